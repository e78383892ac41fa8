internal import PeripheralBlueZModel
internal import PeripheralCore
internal import PeripheralKit

extension ConformanceSuite {
    /// The scenarios that some versions of BlueZ fail.
    ///
    /// The known differences are the source of the table in the article "Limits of BlueZ by version".
    public static let knownDifferences: [KnownDifference] = {
        // Swift 6.2 cannot type-check a sum of this many arrays in reasonable time.
        let differences: [[KnownDifference]] = [
            lengthIsThatOfThePacket, errorHasNoName, [decodingErrorHasNoName], subscribersAreNotApart,
            indicationsAreNotApart, [responsesAreNotApart], endIsNotTold, daemonEnds,
            daemonEndsByConfirmation,
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
                "refusal of \(operation): expected \(ATTError.improperlyConfigured), but got \(ATTError.unlikelyError).",
            reason: "bluetoothd has no D-Bus name for the ATT error."
        )
    }

    private static let responsesAreNotApart = KnownDifference(
        requestsOfTwo,
        in: .before(BlueZVersion(major: 5, minor: 80)),
        failure: "response: expected [16, 1], but got [16, 128].",
        reason: "bluetoothd sends each update to all subscribers of the characteristic."
    )

    private static let decodingErrorHasNoName = KnownDifference(
        undecodableIsRefused,
        in: .all,
        failure: "refusal of write: expected \(ATTError.valueNotAllowed), but got \(ATTError.unlikelyError).",
        reason: "bluetoothd has no D-Bus name for the ATT error."
    )

    private static let indicationsAreNotApart = [
        (indicationOfOne, "indication for one"),
        (documentOfSome(by: .indication), "document for some by \(UpdateKind.indication)s"),
    ].map { scenario, subject in
        KnownDifference(
            scenario,
            in: .before(BlueZVersion(major: 5, minor: 80)),
            failure: "\(subject): failed as \(PeripheralError.Code.notAddressable).",
            reason: "bluetoothd does not report which subscriber has confirmed an indication."
        )
    }

    private static let subscribersAreNotApart =
        [
            (updatesOfOne([517, 23]), "update for one: failed as \(PeripheralError.Code.notAddressable)."),
            (
                updatesOfOne([517, 23, 65, 247]),
                "update for one: failed as \(PeripheralError.Code.notAddressable)."
            ),
            (
                documentOfSome(by: .notification),
                "document for some by \(UpdateKind.notification)s: "
                    + "failed as \(PeripheralError.Code.notAddressable)."
            ),
            (
                manyUpdatesOfOne(rounds: 50),
                "update for one: failed as \(PeripheralError.Code.notAddressable)."
            ),
            (
                returnedSubscriberIsReached,
                "update for one: failed as \(PeripheralError.Code.notAddressable)."
            ),
            (othersAreSecure, "update of the other meanwhile: expected [1], but got [2]."),
            (unsubscriptionAmongOthersIsTold, "unsubscription: there is no event."),
        ].map { scenario, failure in
            KnownDifference(
                scenario,
                in: .before(BlueZVersion(major: 5, minor: 76)),
                failure: failure,
                reason:
                    "bluetoothd sends each update to all subscribers, and reports only the end of the last subscription."
            )
        }

    private static let endIsNotTold = [resumedSubscriptionEnds, victimUnsubscribes].map {
        KnownDifference(
            $0,
            in: .all,
            failure: "unsubscription: there is no event.",
            reason:
                "bluetoothd reports the end of a subscription without a socket only when it is the last one."
        )
    }

    private static let daemonEnds = [readerVanishes, writerVanishes].map {
        KnownDifference(
            $0,
            in: .all,
            failure: "bluetoothd may crash",
            reason: "bluetoothd discards the answer for a disconnected central, but continues to wait. "
                + "After 5 s, or when the application is removed, it uses freed memory.",
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
                "bluetoothd frees a subscriber's socket when it unsubscribes, or when another central that is "
                + "not bonded disconnects. It uses the freed socket when the subscriber confirms an indication "
                + "that came through it. No other path reaches one of several subscribers.",
            endsDaemon: true
        ),
        KnownDifference(
            confirmationAfterTheRun,
            in: .all,
            failure: "bluetoothd may crash",
            reason:
                "bluetoothd frees the services of a program that ends or is killed, and uses them when a central "
                + "confirms an earlier indication. Unless the program is killed, the framework waits one second for "
                + "the confirmation.",
            endsDaemon: true
        ),
    ]
}

extension ATTError {
    static let improperlyConfigured = clientCharacteristicConfigurationImproperlyConfigured
}
