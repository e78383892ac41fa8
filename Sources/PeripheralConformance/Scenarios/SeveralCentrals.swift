internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

extension ConformanceSuite {
    static let centrals: [Scenario] = [
        centralsAtOnce([517, 23]), centralsAtOnce([517, 23, 65, 247]), centralLeaves, subscriptionsAreOwn,
        longReadsDoNotMix, longWritesDoNotMix,
    ]

    static func centralsAtOnce(_ mtus: [Int]) -> Scenario {
        Scenario("\(mtus.count) centrals at once read, write and are updated, each with its own MTU") {
            let writers = Recorder<(value: [UInt8], central: Central)>()
            let value = Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .write, .notify, .indicate]) {
                Read { pattern(300) }
                Write { value, central in writers.record((value, central)) }
            }
            let peripheral = Peripheral("Crowd") { GATTService(ScenarioUUID.service) { value } }
            return ScenarioRun(peripheral, mtu: nil) { central, session in
                try await withCentrals(central, mtus: mtus) { centrals in
                    try await all(centrals) { number, central in
                        try expect("value for \(number)", try await central.read(value), is: pattern(300))
                        try await central.write(value, [UInt8](repeating: UInt8(number), count: 100))
                        try await central.subscribe(to: value, for: kind(number))
                        // When this read is answered, the program knows the subscription.
                        _ = try await central.read(value)
                    }
                    try await session.notify(value, pattern(300))
                    try await all(centrals) { number, central in
                        let update = try await central.nextUpdate(of: central.locate(value).valueHandle)
                        let part = pattern(min(300, mtus[number] - 3))
                        try expect(
                            "update of \(number)",
                            update,
                            is: ReceivedUpdate(kind: kind(number), value: part)
                        )
                    }
                    var writerMTUs: [Int: Int] = [:]
                    for _ in mtus {
                        let (value, central) = try await writers.next()
                        try expect("value of one writer", Set(value).count, is: 1)
                        try expect("length of what is written", value.count, is: 100)
                        if let first = value.first { writerMTUs[Int(first)] = central.mtu }
                    }
                    try expect("MTUs by writer", writerMTUs, is: Dictionary(enumerated: mtus))
                }
            }
        }
    }

    private static func kind(_ number: Int) -> UpdateKind {
        number % 2 == 0 ? .notification : .indication
    }

    static let centralLeaves = Scenario("a central that leaves disturbs no other, and may come back") {
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .notify]) { Read { [1] } }
        let peripheral = Peripheral("Leaving") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(peripheral, mtu: nil) { central, session in
            try await withCentrals(central, mtus: [517, 23]) { centrals in
                let (leaving, staying) = (centrals[0], centrals[1])
                for central in centrals {
                    try await central.subscribe(to: value)
                    _ = try await central.read(value)
                }
                try await leaving.disconnect()
                try await session.notify(value, [2])
                try expect("update", try await staying.nextUpdate(of: value), is: [2])
                try expect("value", try await staying.read(value), is: [1])
                try await leaving.connect()
                let configuration = BluetoothUUID.clientCharacteristicConfiguration
                try expect("returned", try await leaving.read(configuration, of: value), is: [0, 0])
                try expect("stayed", try await staying.read(configuration, of: value), is: [1, 0])
                try await session.notify(value, [3])
                try expect("update", try await staying.nextUpdate(of: value), is: [3])
            }
        }
    }

    static let subscriptionsAreOwn = Scenario("each central gets the updates that it has subscribed to") {
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .notify]) { Read { [] } }
        let other = Characteristic<[UInt8]>(ScenarioUUID.otherValue, [.read, .notify]) { Read { [] } }
        let peripheral = Peripheral("Subscribers") {
            GATTService(ScenarioUUID.service) {
                value; other
            }
        }
        return ScenarioRun(peripheral, mtu: nil) { central, session in
            try await withCentrals(central, mtus: [517, 247]) { centrals in
                for (central, characteristic) in zip(centrals, [value, other]) {
                    try await central.subscribe(to: characteristic)
                    _ = try await central.read(characteristic)
                }
                try await session.notify(value, [1])
                try await session.notify(other, [2])
                try expect("update of the first", try await centrals[0].nextUpdate(of: value), is: [1])
                try expect("update of the second", try await centrals[1].nextUpdate(of: other), is: [2])
                for (central, characteristic) in zip(centrals, [other, value]) {
                    try await central.subscribe(to: characteristic)
                    _ = try await central.read(characteristic)
                }
                try await centrals[0].unsubscribe(from: value)
                _ = try await centrals[0].read(value)
                try await session.notify(value, [3])
                try await session.notify(other, [4])
                try expect("first, of the other", try await centrals[0].nextUpdate(of: other), is: [4])
                try expect("second, of the other", try await centrals[1].nextUpdate(of: other), is: [4])
                try expect("second", try await centrals[1].nextUpdate(of: value), is: [3])
            }
        }
    }

    static let longReadsDoNotMix = Scenario("long reads of two centrals at once do not mix") {
        let count = Counter()
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, .read) {
            Read { [UInt8](repeating: count.next(), count: 100) }
        }
        let peripheral = Peripheral("Readers") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(peripheral, mtu: nil) { central, _ in
            try await withCentrals(central, mtus: [23, 65]) { centrals in
                for number in centrals.indices {
                    let handle = try await centrals[number].locate(value).valueHandle
                    let part = try await centrals[number].read(handle, offset: 0)
                    try expect("first part of \(number)", Set(part), is: [UInt8(number + 1)])
                }
                for number in centrals.indices {
                    let handle = try await centrals[number].locate(value).valueHandle
                    let part = try await centrals[number].read(handle, offset: 90)
                    try expect(
                        "last part of \(number)",
                        part,
                        is: [UInt8](repeating: UInt8(number + 1), count: 10)
                    )
                }
            }
        }
    }

    static let longWritesDoNotMix = Scenario("long writes of two centrals at once do not mix") {
        let written = Recorder<[UInt8]>()
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, .write) { Write { written.record($0) } }
        let peripheral = Peripheral("Writers") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(peripheral, mtu: nil) { central, _ in
            try await withCentrals(central, mtus: [23, 65]) { centrals in
                for offset in [0, 10] {
                    for (number, central) in centrals.enumerated() {
                        let handle = try await central.locate(value).valueHandle
                        let part = [UInt8](repeating: UInt8(number), count: 10)
                        try await central.prepareWrite(handle, part, offset: offset)
                    }
                }
                for (number, central) in centrals.enumerated() {
                    try await central.executePreparedWrites(commit: true)
                    let expected = [UInt8](repeating: UInt8(number), count: 20)
                    try expect("value written by \(number)", try await written.next(), is: expected)
                }
            }
        }
    }
}

extension Dictionary where Key == Int {
    /// Creates a dictionary of the values by their index.
    fileprivate init(enumerated values: [Value]) {
        self.init(uniqueKeysWithValues: zip(values.indices, values))
    }
}
