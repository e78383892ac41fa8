import PeripheralTesting

/// What `docs/bluez-versions.md` says.
let bluezVersionsDocument = """
    # Versions of BlueZ

    <!-- Made by `make bluez-versions` from ConformanceSuite.knownDifferences; do not edit. -->

    `make system-test` runs the [conformance suite](testing.md) on bluetoothd \(BlueZVersion.v5_66) (Debian 12 "bookworm"),
    \(BlueZVersion.v5_82) (Debian 13 "trixie") and \(BlueZVersion.v5_87) ("forky"). What it checks holds on all of them, and is expected
    to hold on those between, of which an emulated 5.72 and 5.78 are tested for the ways of updates, except for this:

    | What does not hold | In BlueZ | What happens instead | Why |
    |---|---|---|---|
    \((ConformanceSuite.knownDifferences + [.killedProgram, .hastySubscriber]).map(\.row).joined(separator: "\n"))

    BlueZ 5.74 and 5.75 refuse services whose handles are not pinned; `validate(for:)` and the start of a run say so.

    The suite fails where a version differs in any other way, and also where one of these differences is gone.

    """

extension KnownDifference {
    fileprivate var row: String {
        "| \(scenario) | \(versions) | \(failure) | \(reason) |"
    }
}
