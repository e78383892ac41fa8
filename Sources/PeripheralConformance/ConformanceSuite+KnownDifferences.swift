internal import PeripheralBlueZModel
internal import PeripheralCore
internal import PeripheralKit

extension ConformanceSuite {
    /// Where versions of BlueZ do something else than the scenarios say.
    ///
    /// The article "Limits of BlueZ by version" is made of this table.
    public static let knownDifferences: [KnownDifference] = {
        // A sum of this many arrays takes Swift 6.2 longer than it allows itself.
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
            reason: "bluetoothd knows no name for this error on D-Bus."
        )
    }

    private static let responsesAreNotApart = KnownDifference(
        requestsOfTwo,
        in: .before(BlueZVersion(major: 5, minor: 80)),
        failure: "response: expected [16, 1], but got [16, 128].",
        reason: "bluetoothd reaches one of several subscribers only together with the others."
    )

    private static let decodingErrorHasNoName = KnownDifference(
        undecodableIsRefused,
        in: .all,
        failure: "refusal of write: expected \(ATTError.valueNotAllowed), but got \(ATTError.unlikelyError).",
        reason: "bluetoothd knows no name for this error on D-Bus."
    )

    private static let indicationsAreNotApart = [
        (indicationOfOne, "indication for one"),
        (documentOfSome(by: .indication), "document for some by \(UpdateKind.indication)s"),
    ].map { scenario, subject in
        KnownDifference(
            scenario,
            in: .before(BlueZVersion(major: 5, minor: 80)),
            failure: "\(subject): failed as \(PeripheralError.Code.notAddressable).",
            reason: "bluetoothd does not tell which of several subscribers has confirmed."
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
                    "bluetoothd reaches all who have subscribed together, and tells only when the last one is gone."
            )
        }

    private static let endIsNotTold = [resumedSubscriptionEnds, victimUnsubscribes].map {
        KnownDifference(
            $0,
            in: .all,
            failure: "unsubscription: there is no event.",
            reason:
                "bluetoothd tells the end of a subscription that has no socket only when it is the last of all."
        )
    }

    private static let daemonEnds = [readerVanishes, writerVanishes].map {
        KnownDifference(
            $0,
            in: .all,
            failure: "bluetoothd may crash",
            reason: "bluetoothd drops the answer to a central that is gone, waits for it nevertheless, "
                + "and after 5 s, or when the application leaves, uses freed memory.",
            endsDaemon: true
        )
    }

    /// The emulated bluetoothd crashes as well.
    package static let daemonEndsByConfirmation = [
        KnownDifference(
            addressedUnsubscriberConfirmsLate,
            in: .from(BlueZVersion(major: 5, minor: 80)),
            failure: "bluetoothd may crash",
            reason:
                "bluetoothd frees the socket of a subscriber when it unsubscribes, or when any other leaves that is "
                + "not bonded, and uses it when the subscriber confirms what came by it. Nothing else reaches one of several.",
            endsDaemon: true
        ),
        KnownDifference(
            confirmationAfterTheRun,
            in: .all,
            failure: "bluetoothd may crash",
            reason:
                "bluetoothd frees the services of a program that ends or is killed, and uses them when a central "
                + "confirms what it was sent before. The framework waits for that for a second, if it is not killed.",
            endsDaemon: true
        ),
    ]
}

extension ATTError {
    static let improperlyConfigured = clientCharacteristicConfigurationImproperlyConfigured
}
