"""Counts units by what they have: which of many have several traits, in one operation on whole
numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

Trait = TypeVar("Trait", bound=Hashable)


@dataclass(frozen=True, slots=True)
class TraitCounts(Generic[Trait]):
    """Units as bits: `having` are, of each trait, those that have it, of `every`."""

    every: int
    having: dict[Trait, int]

    def number(self, traits: Iterable[Trait], without: Iterable[Iterable[Trait]] = ()) -> int:
        """The number of units (rows, cells or fields that were compared) that have all of these
        traits, and none of the sets of traits in `without`.
        """
        units = self._with_all(traits)
        for excluded_traits in without:
            units &= ~self._with_all(excluded_traits)
        return units.bit_count()

    def _with_all(self, traits: Iterable[Trait]) -> int:
        """The units that have all of these traits, as bits."""
        units = self.every
        for trait in traits:
            units &= self.having.get(trait, 0)
        return units


def count_traits(units: Iterable[Iterable[Trait]]) -> TraitCounts[Trait]:
    """Counts units (such as cells), each given as its set of traits, so that the number of units
    with several given traits can be asked for. Each trait gets an integer whose bits are the units
    that have it.
    """
    places: dict[Trait, list[int]] = defaultdict(list)
    size = 0
    for place, unit in enumerate(units):
        size = place + 1
        for trait in unit:
            places[trait].append(place)
    having = {trait: _set_bits(numbers, size) for trait, numbers in places.items()}
    return TraitCounts((1 << size) - 1, having)


def _set_bits(places: Iterable[int], size: int) -> int:
    """The whole number of `size` bits in which the bits at these places are 1."""
    # Whole bytes are read at once; bits set one by one in a number would take the square of its
    # length.
    octets = bytearray(size + 7 >> 3)
    for place in places:
        octets[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(octets, "little")
