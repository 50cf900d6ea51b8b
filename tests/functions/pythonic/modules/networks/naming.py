def subnet_name(zone):
    return f"subnet-{zone}"
