internal import PeripheralBlueZModel
internal import PeripheralCore
internal import PeripheralKit

extension ConformanceSuite {
    /// The scenarios that fail on some versions of BlueZ.
    ///
    /// The command `make bluez-versions` writes these scenarios into a table in the article "Limits of BlueZ
    /// by version".
    public static let knownDifferences: [KnownDifference] = {
        // Swift 6.2 cannot type-check a sum of this many arrays in reasonable time.
        let differences: [[KnownDifference]] = [
            lengthIsThatOfThePacket, errorHasNoName, [decodingErrorHasNoName], subscribersAreNotApart,
            indicationsAreNotApart, [responsesAreNotApart], endIsNotReported, daemonEnds,
            daemonEndsByConfirmation, [intervalIsIgnored],
        ]
        return differences.flatMap(\.self)
    }()

    private static let lengthIsThatOfThePacket = [writtenBytes(511), writtenBytes(512), longWrite(of: 512)]
        .map {
            KnownDifference(
                $0,
                in: .before(BlueZVersion(major: 5, minor: 69)),
                failure: "\(ATTError.invalidAttributeValueLength)",
                reason: "bluetoothd counts the handle and the offset in the packet as part of the value."
            )
        }

    private static let errorHasNoName = [
        (refusedRead(by: .improperlyConfigured), "read"), (refusedWrite(by: .improperlyConfigured), "write"),
        (requestWithoutSubscription, "request"),
    ].map { scenario, operation in
        KnownDifference(
            scenario,
            in: .before(BlueZVersion(major: 5, minor: 76)),
            failure:
                "ATT error for the refused \(operation): expected '\(ATTError.improperlyConfigured)', "
                + "but got '\(ATTError.unlikelyError)'.",
            reason: "bluetoothd has no D-Bus name for the ATT error."
        )
    }

    private static let intervalIsIgnored = KnownDifference(
        slowingAdvertisement,
        in: .before(.stableAdvertisingProperties),
        failure: "interval: expected '\(AdvertisingInterval.fast)', but got '1280 ms'.",
        reason: "bluetoothd ignores the interval of an advertisement."
    )

    private static let responsesAreNotApart = KnownDifference(
        requestsOfTwo,
        in: .before(BlueZVersion(major: 5, minor: 80)),
        failure: "response: expected [16, 1], but got [16, 128].",
        reason: "bluetoothd sends each update to all subscribers of the characteristic."
    )

    private static let decodingErrorHasNoName = KnownDifference(
        undecodableIsRefused,
        in: .all,
        failure: "ATT error for the refused write: expected '\(ATTError.valueNotAllowed)', "
            + "but got '\(ATTError.unlikelyError)'.",
        reason: "bluetoothd has no D-Bus name for the ATT error."
    )

    private static let indicationsAreNotApart = [
        (indicationOfOne, "indication for one central"),
        (documentOfSome(by: .indication), "document by \(UpdateKind.indication)s for 2 of 3 centrals"),
    ].map { scenario, subject in
        KnownDifference(
            scenario,
            in: .before(BlueZVersion(major: 5, minor: 80)),
            failure: "\(subject): failed with the error code \(PeripheralError.Code.notAddressable).",
            reason: "bluetoothd does not report which subscriber has confirmed an indication."
        )
    }

    private static let subscribersAreNotApart =
        [
            (
                updatesOfOne([517, 23]),
                "update for one central: failed with the error code \(PeripheralError.Code.notAddressable)."
            ),
            (
                updatesOfOne([517, 23, 65, 247]),
                "update for one central: failed with the error code \(PeripheralError.Code.notAddressable)."
            ),
            (
                documentOfSome(by: .notification),
                "document by \(UpdateKind.notification)s for 2 of 3 centrals: "
                    + "failed with the error code \(PeripheralError.Code.notAddressable)."
            ),
            (
                manyUpdatesOfOne(rounds: 50),
                "update for one central: failed with the error code \(PeripheralError.Code.notAddressable)."
            ),
            (
                returnedSubscriberIsReached,
                "update for one central: failed with the error code \(PeripheralError.Code.notAddressable)."
            ),
            (othersAreSecure, "first update that the other subscriber received: expected [1], but got [2]."),
            (
                unsubscriptionAmongOthersIsTold,
                "end of the subscription: the session did not report this event."
            ),
        ].map { scenario, failure in
            KnownDifference(
                scenario,
                in: .before(BlueZVersion(major: 5, minor: 76)),
                failure: failure,
                reason:
                    "bluetoothd sends each update to all subscribers. It reports the end of a subscription only if no subscription is left."
            )
        }

    private static let endIsNotReported = [resumedSubscriptionEnds, victimUnsubscribes].map {
        KnownDifference(
            $0,
            in: .all,
            failure: "end of the subscription: the session did not report this event.",
            reason:
                "If a subscription has no socket, bluetoothd does not report the end of this subscription "
                + "while the characteristic has other subscribers."
        )
    }

    private static let daemonEnds = [readerVanishes, writerVanishes].map {
        KnownDifference(
            $0,
            in: .all,
            failure: "bluetoothd may crash",
            reason: "After the central has disconnected, bluetoothd discards the program's answer, but the "
                + "request stays pending. When the request times out after 5 s, or when bluetoothd removes "
                + "the application, bluetoothd uses freed memory.",
            endsDaemon: true
        )
    }

    /// The differences in which the emulated bluetoothd also crashes.
    package static let daemonEndsByConfirmation = [
        KnownDifference(
            addressedUnsubscriberConfirmsLate,
            in: .from(BlueZVersion(major: 5, minor: 80)),
            failure: "bluetoothd may crash",
            reason:
                "bluetoothd frees the socket of a subscriber when this subscriber unsubscribes, or when "
                + "another central that is not bonded disconnects. If the program has sent an indication "
                + "through the socket, bluetoothd uses the freed socket when the subscriber confirms the "
                + "indication. If a characteristic has several subscribers, the program needs a socket to "
                + "send an indication to a single subscriber.",
            endsDaemon: true
        ),
        KnownDifference(
            confirmationAfterTheRun,
            in: .all,
            failure: "bluetoothd may crash",
            reason:
                "When a program ends or is killed, bluetoothd frees the services of the program. If a "
                + "central then confirms an earlier indication, bluetoothd uses the freed memory. Before a "
                + "program ends, the framework waits up to one second for the confirmation. A killed program "
                + "cannot wait.",
            endsDaemon: true
        ),
    ]
}

extension ATTError {
    static let improperlyConfigured = clientCharacteristicConfigurationImproperlyConfigured
}
