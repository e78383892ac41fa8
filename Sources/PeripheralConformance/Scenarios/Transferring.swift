internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting

extension ConformanceSuite {
    static let transferring: [Scenario] = [
        documentArrives(in: 20, named: "chunks of 20 bytes"),
        documentArrives(in: .maximum, named: "chunks as large as can be"),
        documentArrivesAtSeveral, documentIsConfirmed, confirmedDocumentsFollow,
        documentBeginsAnew, newcomerGetsAll,
        othersAreNotDisturbed,
        valueIsNotStarved, documentFollowsOneThatFailed, documentOfSome(by: .notification),
    ]

    static let marker = Array("EOM".utf8)

    private static func documentArrives(in chunkSize: ChunkSize, named chunks: String) -> Scenario {
        Scenario("a document arrives whole in \(chunks)") {
            subscribersRun(mtus: [247]) { centrals, session, value in
                let document = pattern(3_001)
                var progress: TransferProgress?
                async let received = receive(value, at: centrals[0])
                try await session.send(document, over: value, chunkSize: chunkSize) { progress = $0 }
                let (bytes, longest) = try await received
                try expect("document", bytes, is: document)
                try expect("longest chunk", longest, is: chunkSize == .maximum ? 244 : 20)
                try expect("progress", progress?.sent, is: document.count)
            }
        }
    }

    static let documentArrivesAtSeveral = Scenario("a document arrives whole at each of 4 centrals") {
        subscribersRun(mtus: [517, 23, 65, 247]) { centrals, session, value in
            let document = pattern(2_000)
            async let sending: Void = session.send(document, over: value, chunkSize: .maximum)
            try await all(centrals) { number, central in
                let (bytes, _) = try await receive(value, at: central)
                try expect("document of \(number)", bytes, is: document)
            }
            try await sending
        }
    }

    static let documentIsConfirmed = Scenario("a document arrives whole by indications") {
        subscribersRun(mtus: [65], .indicate) { centrals, session, value in
            let document = pattern(500)
            let subscriber = try session.subscribers(of: value).compactMap(\.central)
            async let received = receive(value, at: centrals[0])
            try await session.send(document, over: value, to: subscriber[0], by: .indication)
            try expect("document", try await received.bytes, is: document)
        }
    }

    static let confirmedDocumentsFollow = Scenario("documents by indications follow one another") {
        subscribersRun(mtus: [65], .indicate) { centrals, session, value in
            let documents = [pattern(300), [UInt8](repeating: 0, count: 200)]
            let subscriber = try session.subscribers(of: value).compactMap(\.central)
            try await withThrowingTaskGroup { group in
                for document in documents {
                    group.addTask {
                        try await session.send(document, over: value, to: subscriber[0], by: .indication)
                    }
                }
                let first = try await receive(value, at: centrals[0]).bytes
                let second = try await receive(value, at: centrals[0]).bytes
                try expect("document", documents.contains(first), is: true)
                try expect("other document", second, is: first == documents[0] ? documents[1] : documents[0])
                try await group.waitForAll()
            }
        }
    }

    static let documentBeginsAnew = Scenario(
        "a central that subscribes again gets a document that is offered again"
    ) {
        subscribersRun(mtus: [65]) { centrals, session, value in
            let document = pattern(500)
            try await withThrowingTaskGroup { group in
                group.addTask { try await session.offer(document, over: value) }
                for _ in 0..<2 {
                    let (bytes, _) = try await receive(value, at: centrals[0])
                    try expect("document", bytes, is: document)
                    try await centrals[0].unsubscribe(from: value)
                    try await centrals[0].subscribe(to: value)
                }
                let (bytes, _) = try await receive(value, at: centrals[0])
                try expect("document", bytes, is: document)
                group.cancelAll()
            }
        }
    }

    /// A newcomer first receives the rest, and then the whole document.
    ///
    /// This happens if the newcomer is reached only together with the other centrals.
    static let newcomerGetsAll = Scenario(
        "a central that subscribes while a document is sent receives it from the beginning"
    ) {
        subscribersRun(mtus: [247]) { centrals, session, value in
            let document = pattern(20_000)
            try await withThrowingTaskGroup { group in
                group.addTask { try await session.offer(document, over: value) }
                let newcomer = try await centrals[0].makeAnother()
                try await newcomer.connect(mtu: 65)
                try await newcomer.subscribe(to: value)
                try await expectWhole(document, of: value, at: newcomer, "document of the newcomer")
                try await newcomer.disconnect()
                group.cancelAll()
            }
        }
    }

    /// In this case, bluetoothd 5.76 and later may lose the socket of another central.
    ///
    /// The other central receives the rest of its part, ended by the marker. It then receives the whole
    /// document after all other centrals.
    static let othersAreNotDisturbed = Scenario(
        "a central that leaves while a document is sent disturbs no other"
    ) {
        subscribersRun(mtus: [517, 23, 65]) { centrals, session, value in
            let document = pattern(10_000)
            async let sending: Void = session.send(document, over: value)
            _ = try await centrals[1].nextUpdate(of: value)
            try await centrals[1].disconnect()
            try await all([centrals[0], centrals[2]]) { number, central in
                try await expectWhole(document, of: value, at: central, "document of \(number)")
            }
            try await sending
        }
    }

    static let valueIsNotStarved = Scenario("a value arrives while a document is sent") {
        let bulk = Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .notify]) { Read { [] } }
        let level = Characteristic<UInt8>(ScenarioUUID.otherValue, .notify)
        let peripheral = Peripheral("Bulk") {
            GATTService(ScenarioUUID.service) {
                bulk; level
            }
        }
        return ScenarioRun(peripheral) { central, session in
            try await central.subscribe(to: bulk)
            try await central.subscribe(to: level)
            _ = try await central.read(bulk)
            let document = pattern(20_000)
            try await withThrowingTaskGroup { group in
                group.addTask { try await session.send(document, over: bulk) }
                for number in 0..<10 as Range<UInt8> {
                    try await session.notify(level, number)
                    try expect("level", try await central.nextUpdate(of: level), is: number)
                }
                let (bytes, _) = try await receive(bulk, at: central)
                try expect("document", bytes, is: document)
                try await group.waitForAll()
            }
        }
    }

    /// Before 5.76, bluetoothd cannot continue a document for one central when another central subscribes.
    ///
    /// The next document ends the partial document.
    static let documentFollowsOneThatFailed = Scenario(
        "a document for all is not taken for the rest of one that has failed"
    ) {
        subscribersRun(mtus: [65]) { centrals, session, value in
            let (document, next) = (pattern(20_000), [UInt8](repeating: 7, count: 100))
            let subscriber = try session.subscribers(of: value).compactMap(\.central)
            let sending = Task { try await session.send(document, over: value, to: subscriber[0]) }
            let first = try await centrals[0].nextUpdate(of: value)
            let newcomer = try await centrals[0].makeAnother()
            try await newcomer.connect(mtu: 247)
            try await newcomer.subscribe(to: value)
            _ = try await newcomer.read(value)
            _ = await sending.result
            try await session.send(next, over: value)
            let part = first + (try await receive(value, at: centrals[0]).bytes)
            try expect("part", part, is: Array(document.prefix(part.count)))
            try expect("next document", try await receive(value, at: centrals[0]).bytes, is: next)
            // The central may have subscribed in time to receive part of the document for the other central.
            while try await receive(value, at: newcomer).bytes != next {}
            try await newcomer.disconnect()
        }
    }

    /// Waits for a whole document, possibly after the rest of earlier attempts.
    static func expectWhole(
        _ document: [UInt8],
        of value: Characteristic<[UInt8]>,
        at central: any TestCentral,
        _ subject: String
    ) async throws {
        var bytes: [UInt8]
        repeat {
            (bytes, _) = try await receive(value, at: central)
        } while bytes.count < document.count
        try expect(subject, bytes, is: document)
    }

    /// Returns everything that a central receives up to the end marker.
    static func receive(
        _ value: Characteristic<[UInt8]>,
        at central: any TestCentral
    ) async throws -> (bytes: [UInt8], longest: Int) {
        var (bytes, longest): ([UInt8], Int) = ([], 0)
        while true {
            let chunk = try await central.nextUpdate(of: value)
            guard chunk != marker else { return (bytes, longest) }
            bytes += chunk
            longest = max(longest, chunk.count)
        }
    }
}
