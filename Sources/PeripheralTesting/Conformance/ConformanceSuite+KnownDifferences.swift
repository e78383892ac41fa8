internal import PeripheralCore

extension ConformanceSuite {
    /// Where versions of BlueZ do something else than the scenarios say.
    ///
    /// `docs/bluez-versions.md` is made of this table.
    public static let knownDifferences: [KnownDifference] = improperConfigurationIsUnlikely

    private static let improperConfigurationIsUnlikely = ["read", "write"].map { operation in
        KnownDifference(
            operation == "read"
                ? refusedRead(by: .improperlyConfigured) : refusedWrite(by: .improperlyConfigured),
            in: .before(BlueZVersion(major: 5, minor: 76)),
            failure:
                "refusal of \(operation): expected \(ATTError.improperlyConfigured), but got \(ATTError.unlikelyError).",
            reason: "bluetoothd knows no name for this error on D-Bus."
        )
    }
}

extension ATTError {
    fileprivate static let improperlyConfigured = clientCharacteristicConfigurationImproperlyConfigured
}
