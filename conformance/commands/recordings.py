"""The commands of the recordings: what they are, and how far our writers agree with them."""

from __future__ import annotations

import itertools
import operator

import click

from conformance.commands.shell import FORMAT, FORMATS_GIVEN, OutputStyle, Progress, print_rows
from generators.errors import NothingSelected


@click.command("list", short_help="Lists the recordings of real products.")
@FORMAT
def list_recordings(style: OutputStyle) -> None:
    """The recordings of real products: release, server, options, messages.

    \b
    Example: cdc-conformance corpus list --format json
    """
    from generators.recorded import store

    recordings = list(itertools.chain.from_iterable(map(store.recordings, store.PRODUCTS)))
    facts = ("product", "name", "format", "profile", "release", "server", "options", "how", "count")
    values_of = operator.attrgetter(*facts)
    recording_rows = [
        dict(zip(facts, values_of(recording), strict=True)) for recording in recordings
    ]
    print_rows(recording_rows, ("product", "name", "format", "profile", "count"), style)


@click.command("audit")
@FORMATS_GIVEN
@click.option(
    "--differences", is_flag=True, help="The first differing bytes of each unexplained message."
)
@FORMAT
def audit_recordings(formats: tuple[str, ...], differences: bool, style: OutputStyle) -> None:
    """Compares our writers' bytes with recorded ones.

    The writer of the recording's profile writes the history that the SQL caused. A message is identical except for ids, positions
    and clock times, or explained by a limit of the model, or unexplained, or apart: in no episode, so not compared.

    \b
    Example: cdc-conformance corpus audit alibaba-canal-json --differences
    """
    from generators import wire_format
    from generators.recorded.agreement import RecordingAgreement, difference, recording_agreements
    from generators.recorded.episodes import Agreement

    agreements: list[RecordingAgreement] = []
    with Progress() as note:
        for fmt in wire_format.formats(formats):
            note(f"{fmt.name}: comparing")
            agreements += recording_agreements(fmt)
    if not agreements:
        raise NothingSelected(f"no recordings of {', '.join(formats) or 'any format'}")
    texts = {
        agreed.recording: [
            f"{c.episode.case_id}, message {c.number}: {difference(c)}"
            for c in agreed.differing
            if differences and c.agreement is Agreement.UNEXPLAINED
        ]
        for agreed in agreements
    }
    agreement_rows = [
        {
            "format": agreed.recording.format,
            "recording": agreed.recording.name,
            "release": agreed.recording.release,
            "profile": list(agreed.profiles),
            "recorded": agreed.recording.count,
            "identical": agreed.identical,
            "explained": agreed.explained,
            "unexplained": agreed.unexplained,
            "apart": agreed.without_episode,
            "reasons": dict(agreed.reasons),
            "differences": texts[agreed.recording],
        }
        for agreed in agreements
    ]
    columns = (
        "format",
        "recording",
        "profile",
        "recorded",
        "identical",
        "explained",
        "unexplained",
        "apart",
    )
    print_rows(agreement_rows, columns, style)
    if style != "json":
        for line in itertools.chain.from_iterable(texts.values()):
            click.echo(line)
