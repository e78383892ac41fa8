internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting

/// Documents for several centrals, with each chunk confirmed.
///
/// bluetoothd before 5.80 reaches the centrals only together. All centrals receive a chunk at once and
/// confirm it before the next chunk.
extension ConformanceSuite {
    static let confirmedTransferring: [Scenario] = [
        confirmedDocumentArrivesAtSeveral, documentOfSome(by: .indication), newcomerConfirmsAll,
        confirmedDocumentIsCancelled, leavingConfirmerAffectsNoOther, bondedConfirmerDisturbsNobody,
        silentConfirmerIsLeft,
    ]

    static let confirmedDocumentArrivesAtSeveral = Scenario(
        "documents arrive whole by indications at each of 3 centrals"
    ) {
        subscribersRun(mtus: [517, 23, 65], .indicate) { centrals, session, value in
            let documents = [pattern(300), [UInt8](repeating: 7, count: 100)]
            async let sending: Void = {
                for document in documents {
                    try await session.send(document, over: value, chunkSize: .maximum, by: .indication)
                }
                try await session.indicate(value, [9])
            }()
            try await all(centrals) { number, central in
                for document in documents {
                    let (bytes, _) = try await receive(value, at: central)
                    try expect("document of \(number)", bytes, is: document)
                }
                try expect("value of \(number)", try await central.nextUpdate(of: value), is: [9])
            }
            try await sending
        }
    }

    static func documentOfSome(by kind: UpdateKind) -> Scenario {
        Scenario("a document that is sent by \(kind)s to 2 of 3 centrals reaches only these 2 centrals") {
            let properties: CharacteristicProperties = kind == .indication ? .indicate : .notify
            return subscribersRun(mtus: [517, 23, 65], properties) { centrals, session, value in
                let document = pattern(500)
                let subscribers = try session.subscribers(of: value).compactMap(\.central)
                try expect("subscribers", subscribers.count, is: 3)
                try await expectSuccess(of: "document by \(kind)s for 2 of 3 centrals") {
                    try await session.send(document, over: value, to: subscribers.prefix(2), by: kind)
                }
                try await session.notify(value, [9])
                for number in 0..<2 {
                    let (bytes, _) = try await receive(value, at: centrals[number])
                    try expect("document of \(number)", bytes, is: document)
                }
                for (number, central) in centrals.enumerated() {
                    try expect("value of \(number)", try await central.nextUpdate(of: value), is: [9])
                }
            }
        }
    }

    static let newcomerConfirmsAll = Scenario(
        "a central that subscribes while a document is sent by indications receives it from the beginning"
    ) {
        subscribersRun(mtus: [247], .indicate) { centrals, session, value in
            let document = pattern(600)
            try await withThrowingTaskGroup { group in
                group.addTask { try await session.offer(document, over: value, by: .indication) }
                _ = try await centrals[0].nextUpdate(of: value)
                let newcomer = try await centrals[0].makeAnother()
                try await newcomer.connect(mtu: 65)
                try await newcomer.subscribe(to: value)
                try await expectWhole(document, of: value, at: newcomer, "document of the newcomer")
                try await newcomer.disconnect()
                group.cancelAll()
            }
        }
    }

    static let confirmedDocumentIsCancelled = Scenario(
        "a document by indications that is cancelled is ended by the marker at each of 2 centrals"
    ) {
        subscribersRun(mtus: [65, 23], .indicate) { centrals, session, value in
            let document = pattern(500)
            for central in centrals { try await central.setConfirmsIndications(false) }
            let sending = Task { try await session.send(document, over: value, by: .indication) }
            for central in centrals {
                try expect(
                    "first chunk",
                    try await central.nextUpdate(of: value),
                    is: Array(document.prefix(20))
                )
            }
            sending.cancel()
            _ = await sending.result
            for central in centrals { try await central.setConfirmsIndications(true) }
            try await session.send([7], over: value, by: .indication)
            for central in centrals {
                let (rest, _) = try await receive(value, at: central)
                try expect("rest", rest.count, is: 0)
                try expect("next document", try await receive(value, at: central).bytes, is: [7])
            }
        }
    }

    static let leavingConfirmerAffectsNoOther = leavingConfirmer(
        "a central that leaves while a document is sent by indications disturbs no other",
        bonded: false
    )

    static let bondedConfirmerDisturbsNobody = leavingConfirmer(
        "a bonded central that leaves while a document is sent by indications disturbs no other",
        bonded: true
    )

    /// A central that is not bonded disconnects, and another central's confirmation may be lost.
    ///
    /// This happens in bluetoothd 5.80 and later. The central whose confirmation is lost receives a marker
    /// that ends its part. It then receives the whole document after all other centrals.
    private static func leavingConfirmer(_ name: String, bonded: Bool) -> Scenario {
        Scenario(name) {
            subscribersRun(mtus: [517, 23, 65], .indicate, bonded: bonded) { centrals, session, value in
                let document = pattern(600)
                try await centrals[1].setConfirmsIndications(false)
                async let sending: Void = session.send(document, over: value, by: .indication)
                _ = try await centrals[1].nextUpdate(of: value)
                try await centrals[1].disconnect()
                try await all([centrals[0], centrals[2]]) { number, central in
                    try await expectWhole(document, of: value, at: central, "document of \(number)")
                }
                try await sending
            }
        }
    }

    /// The first chunk waits until its time limit if the end of the subscription is not reported.
    static let silentConfirmerIsLeft = Scenario(
        "a document by indications goes on when one of several centrals has unsubscribed"
    ) {
        unsubscribedRun { others, session, value, clock in
            let document = pattern(200)
            let isReported = try session.subscribers(of: value).count == 2
            let sending = Task { try await session.send(document, over: value, by: .indication) }
            for central in others {
                try expect(
                    "first chunk",
                    try await central.nextUpdate(of: value),
                    is: Array(document.prefix(20))
                )
            }
            if isReported {
                try await expectSuccess(of: "document") { try await sending.value }
            } else {
                try await clock?.advance(until: "the first chunk is given up") {
                    session.updateTotals.contains { $0.counters.givenUp > 0 }
                }
                try await expectError(of: "document", .unconfirmed) { try await sending.value }
            }
            for central in others {
                let (rest, _) = try await receive(value, at: central)
                try expect("rest of the document", rest, is: Array(document.dropFirst(20)))
            }
        }
    }
}
