"""The plural of a kind, for the names of its resources: Policy → policies, Gateway → gateways.

The rules are those of flect, the library that Crossplane uses, so that the names are the same.
"""

from __future__ import annotations

from typing import NamedTuple


class Word(NamedTuple):
    """A word that has a plural of its own."""

    singular: str
    plural: str
    other: str = ""
    """Another plural, that is known for one but not made."""
    exact: bool = False
    """It is not the ending of longer words."""
    is_shared: bool = False
    """The plural is that of another word, too."""


def _words(text: str) -> list[Word]:
    """One word after the other: singular, singular/plural or singular/plural/other."""
    words = []
    for entry in text.split():
        singular, _, plurals = entry.lstrip("=<").partition("/")
        plural, _, other = plurals.partition("/")
        is_exact, is_shared = entry.startswith("="), entry.startswith("<")
        words.append(Word(singular, plural or singular, other, is_exact, is_shared))
    return words


# `=` marks an exact word, `<` one whose plural is that of another one, too; without a slash there is but one
# form. The order matters: as endings of other words, the later ones are tried first.
WORDS = _words(
    """
    aircraft beef/beef/beefs bison <blues chassis deer fish/fish/fishes moose police salmon/salmon/salmons
    series sheep shrimp/shrimp/shrimps species swine/swine/swines trout/trout/trouts tuna/tuna/tunas you
    child/children =ox/oxen foot/feet goose/geese man/men human/humans =louse/lice mouse/mice tooth/teeth
    woman/women =die/dice person/people
    adieu/adieux/adieus fabliau/fabliaux bureau/bureaus/bureaux
    criterion/criteria ganglion/ganglia/ganglions lexicon/lexica/lexicons
    mitochondrion/mitochondria/mitochondrions noumenon/noumena phenomenon/phenomena taxon/taxa
    media <medium/media/mediums stadium/stadiums/stadia aquarium/aquaria/aquariums
    auditorium/auditoria/auditoriums symposium/symposia/symposiums curriculum/curriculums/curricula
    quota/quotas
    alumnus/alumni/alumnuses bacillus/bacilli cactus/cacti/cactuses coccus/cocci focus/foci/focuses
    locus/loci/locuses nucleus/nuclei/nucleuses octopus/octupuses/octopi radius/radii/radiuses
    syllabus/syllabi corpus/corpora/corpuses genus/genera
    alumna/alumnae vertebra/vertebrae differentia/differentiae minutia/minutiae vita/vitae larva/larvae
    postcava/postcavae praecava/praecavae uva/uvae
    apex/apices/apexes codex/codices/codexes index/indices/indexes latex/latices/latexes
    vertex/vertices/vertexes vortex/vortices/vortexes
    appendix/appendices/appendixes radix/radices/radixes helix/helices/helixes
    =axis/axes crisis/crises <ellipsis/ellipses genesis/geneses oasis/oases thesis/theses testis/testes
    base/bases <basis/bases =alias/aliases vedalia/vedalias
    =use/uses abuse/abuses cause/causes clause/clauses cruse/cruses excuse/excuses fuse/fuses house/houses
    misuse/misuses muse/muses pause/pauses ache/aches topaz/topazes buffalo/buffaloes/buffalos
    potato/potatoes tomato/tomatoes
    equipment information jeans money news rice
    dwarf/dwarfs/dwarves hoof/hoofs/hooves thief/thieves chive/chives hive/hives move/moves
    movie/movies cookie/cookies pretorium/pretoriums agenda/agendas formula/formulas/formulae
    shoe/shoes =toe/toes graffiti =id/ids
    """
)

ENDINGS = [
    (word.singular, word.plural)
    for word in _words(
        """
        tive/tives eaf/eaves oaf/oaves afe/aves arf/arves rfe/rves rf/rves lf/lves fe/ves
        ay/ays ey/eys oy/oys quy/quies uy/uys y/ies eau/eaux
        bula/bulae dula/bulae lula/bulae nula/bulae vula/bulae hedron/hedra
        ium/ia seum/seums eum/ea oum/oa stracum/straca dum/da elum/ela ilum/ila olum/ola ulum/ula llum/lla
        ylum/yla imum/ima ernum/erna gnum/gna brum/bra crum/cra terum/tera serum/sera trum/tra antum/anta
        atum/ata entum/enta etum/eta itum/ita otum/ota utum/uta ctum/cta ovum/ova trix/trices
        iasis/iases mesis/meses kinesis/kineses resis/reses gnosis/gnoses opsis/opses ysis/yses
        ouse/ouses lause/lauses us/uses
        ch/ches io/ios sh/shes ss/sses ez/ezzes iz/izzes tz/tzes zz/zzes ano/anos lo/los to/tos oo/oos o/oes
        x/xes
        """
    )
]
"""Tried in this order, after the words; whatever ends in the plural already stays as it is."""

ACRONYMS = frozenset(
    word.singular
    for word in _words(
        """
        OK UTF8 HTML JSON JWT ID UUID SQL ACK ACL ADSL AES ANSI API ARP ATM BGP BSS CCITT CHAP CIDR CIR CLI
        CPE CPU CRC CRT CSMA CMOS DCE DEC DES DHCP DNS DRAM DSL DSLAM DTE DMI EHA EIA EIGRP EOF ESS FCC FCS
        FDDI FTP GBIC GEPOF HDLC HTTP HTTPS IANA ICMP IDF IDS IEEE IETF IMAP IP IPS ISDN ISP LACP LAN LAPB
        LAPF LLC MAC MC MDF MIB MPLS MTU NAC NAT NBMA NIC NRZ NRZI NVRAM OIDC OSI OSPF OUI PAP PAT PC PIM
        PCM PDU POP3 POTS PPP PPTP PTT PVST RAM RARP RFC RIP RLL ROM RSTP RTP RCP SDLC SFD SFP SLARP SLIP
        SMTP SNA SNAP SNMP SOF SRAM SSH SSID STP SYN TDM TFTP TIA TOFU UDP URL URI USB UTP VC VLAN VLSM VPN
        W3C WAN WEP WPA WWW
        """
    )
)


def plural_of(kind: str) -> str:
    """The plural of a kind in lower case. The last word of it is what is inflected."""
    last = _last_word(kind)
    if not last:
        return ""
    lower, stem = last.lower(), kind.lower()
    if last.upper() in ACRONYMS:
        return stem + ("es" if lower.endswith("s") else "s")
    if any(lower in (word.plural, word.other) for word in WORDS if not word.is_shared):
        return stem
    for word in WORDS:
        if word.singular == lower:
            return stem.removesuffix(lower) + word.plural
    return _by_ending(stem, lower)


def _by_ending(stem: str, last: str) -> str:
    # Words also serve as endings, the latest in the list first; then come the endings proper.
    for singular, plural in [*_word_endings(), *ENDINGS]:
        if last.endswith(plural):
            return stem
        if last.endswith(singular):
            return stem.removesuffix(singular) + plural
    return stem if last.endswith("s") else f"{stem}s"


def _word_endings() -> list[tuple[str, str]]:
    return [(word.singular, word.plural) for word in reversed(WORDS) if not word.exact]


def _last_word(kind: str) -> str:
    """What follows the last change from small letters to a capital, or the last acronym."""
    if kind.upper() in ACRONYMS:
        return kind
    word = before = ""
    for char in kind:
        begins = char.isupper() and (not before.isupper() or word.upper() in ACRONYMS)
        word = char if begins else word + char
        before = char
    return word
