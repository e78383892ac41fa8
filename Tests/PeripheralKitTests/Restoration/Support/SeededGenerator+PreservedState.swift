import PeripheralCore
import PeripheralKit
import TestSupport

extension SeededGenerator {
    /// Any state that a peripheral can have.
    mutating func preservedState() -> PreservedState {
        let services = services()
        guard let table = try? AttributeTable(services: services) else {
            preconditionFailure("these few services find room")
        }
        var database = PreservedDatabase(table: table)
        var start = UInt16.random(in: 0x10...0x100, using: &self)
        var values: [AttributeHandle: [UInt8]] = [:]
        var formerValues: [AttributeHandle: [UInt8]] = [:]
        var subscribers: [PreservedSubscriber] = []
        var options: [AttributeHandle: PreservedOptions] = [:]
        var descriptors: [AttributeHandle] = []
        for service in table.services.indices where flip() {
            let range = table.serviceRange(service)
            database.startsOnAir[service] = AttributeHandle(rawValue: start)
            start += range.upperBound.rawValue - range.lowerBound.rawValue + 1
        }
        for attribute in table.attributes {
            switch attribute.kind {
            case .characteristicValue:
                if flip() { options[attribute.handle] = self.options() }
                if flip() { formerValues[attribute.handle] = value() }
                if flip() {
                    database.staticValues[attribute.handle] = value()
                } else if flip() {
                    values[attribute.handle] = value()
                }
                if table.characteristic(of: attribute.kind)?.properties.allowsSubscription == true, flip() {
                    subscribers.append(subscriber(of: attribute.handle))
                }
            case .descriptor:
                descriptors.append(attribute.handle)
                if flip() { database.staticValues[attribute.handle] = value() }
            default:
                break
            }
        }
        return PreservedState(
            name: text(),
            adapter: flip() ? address() : nil,
            database: database,
            advertisements: (0..<count(upTo: 3)).map { _ in advertisement() },
            subscribers: subscribers,
            values: values,
            formerValues: formerValues,
            updates: subscribers.flatMap { subscriber in
                (0..<count(upTo: 3)).map { _ in
                    PreservedUpdate(
                        characteristic: subscriber.characteristic,
                        address: subscriber.address,
                        value: value()
                    )
                }
            },
            options: options,
            formats: formats(of: descriptors),
            bonds: (0..<count(upTo: 3)).map { _ in address() },
            backendState: flip() ? text() : ""
        )
    }

    private mutating func formats(
        of descriptors: [AttributeHandle]
    ) -> [AttributeHandle: [AttributeHandle]] {
        var formats: [AttributeHandle: [AttributeHandle]] = [:]
        for handle in descriptors where flip() { formats[handle] = descriptors.filter { _ in flip() } }
        return formats
    }

    private mutating func options() -> PreservedOptions {
        PreservedOptions(
            length: flip() ? .any : .within(count(upTo: 3)...(3 + count(upTo: 500))),
            updates: flip() ? .durable(beyond: 1 + count(upTo: 9)) : flip() ? .latest : .reject(beyond: 2),
            writes: flip() ? .durable : .coalesced
        )
    }

    private mutating func services() -> [ServiceDescription] {
        (0..<(1 + count(upTo: 3))).map { place in
            ServiceDescription(
                uuid: uuid(),
                isPrimary: flip(),
                includedServices: (0..<place).filter { _ in next() % 4 == 0 },
                characteristics: (0..<count(upTo: 4)).map { _ in
                    CharacteristicDescription(
                        uuid: uuid(),
                        properties: CharacteristicProperties(rawValue: UInt16(truncatingIfNeeded: next())),
                        security: security(),
                        requiresAuthorization: flip(),
                        descriptors: (0..<count(upTo: 2)).map { _ in
                            DescriptorDescription(
                                uuid: uuid(),
                                permissions: flip() ? .read : [.read, .write],
                                security: security()
                            )
                        }
                    )
                }
            )
        }
    }

    private mutating func advertisement() -> Advertisement {
        Advertisement(
            flip() ? .connectable : .broadcast,
            localName: flip() ? text() : nil,
            services: flip() ? uuids() : nil,
            solicitedServices: uuids(),
            manufacturerData: flip() ? [UInt16(truncatingIfNeeded: next()): value()] : [:],
            serviceData: flip() ? [uuid(): value()] : [:],
            rawData: flip() ? [AdvertisingStructure.DataType(rawValue: 0x26): value()] : [:],
            appearance: flip() ? 0x0340 : nil,
            includes: flip() ? [.txPower, .resolvableSetIdentifier] : [],
            scanResponse: Advertisement.ScanResponse(services: uuids(), serviceData: [uuid(): value()]),
            discoverability: flip() ? .limited(for: .seconds(30)) : flip() ? .never : .general,
            interval: flip() ? .between(.milliseconds(100), and: .milliseconds(150)) : nil,
            slowing: flip() ? .after(.seconds(30), to: .every(.milliseconds(1022.5))) : nil,
            transmitPower: flip() ? .dBm(-4) : nil,
            secondaryChannel: flip() ? .coded : nil,
            duration: flip() ? .seconds(2) : nil,
            timeout: flip() ? .nanoseconds(7) : nil,
            whileConnected: flip() ? .pause : .keepAdvertising
        )
    }

    private mutating func subscriber(of characteristic: AttributeHandle) -> PreservedSubscriber {
        PreservedSubscriber(
            address: address(),
            addressKind: flip() ? .public : flip() ? .random : nil,
            isBonded: flip(),
            characteristic: characteristic,
            kind: flip() ? .notification : flip() ? .indication : nil,
            since: Int64(truncatingIfNeeded: next()),
            adapter: flip() ? address() : nil
        )
    }

    /// The document with a few of its texts changed, its entries removed, or its groups mixed.
    mutating func damaged(_ restorationState: RestorationState) -> RestorationState {
        var restorationState = restorationState
        for _ in 0...count(upTo: 2) {
            guard var group = restorationState.groups.randomElement(using: &self) else {
                return restorationState
            }
            guard let entry = group.entries.randomElement(using: &self) else {
                restorationState[group.name] = nil
                continue
            }
            switch next() % 6 {
            case 0: group[entry.key] = nil
            case 1: group[entry.key] = group.entries.randomElement(using: &self)?.value
            case 2: group[String(entry.key.reversed())] = entry.value
            default: group[entry.key] = damaged(entry.value)
            }
            restorationState[group.name] = group
        }
        return restorationState
    }

    private mutating func damaged(_ text: String) -> String {
        var bytes = Array(text.utf8)
        switch next() % 4 {
        case 0: bytes.removeLast(min(bytes.count, 1 + count(upTo: 4)))
        case 1: bytes += bytes
        case 2: bytes.append(contentsOf: [0x20] + Array("7".utf8))
        default:
            guard !bytes.isEmpty else { return "-" }
            let place = Int.random(in: bytes.indices, using: &self)
            bytes[place] = UInt8.random(in: 0x20...0x7E, using: &self)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Parts

    private mutating func flip() -> Bool { next() & 1 == 0 }

    private mutating func count(upTo maximum: Int) -> Int { Int.random(in: 0...maximum, using: &self) }

    private mutating func value() -> [UInt8] { bytes(count: count(upTo: 20)) }

    private mutating func address() -> DeviceAddress {
        DeviceAddress(littleEndian: bytes(count: 6)) ?? DeviceAddress.numbered(1)
    }

    private mutating func uuid() -> BluetoothUUID {
        let count = [2, 4, 16][count(upTo: 2)]
        return BluetoothUUID(littleEndian: bytes(count: count)) ?? .battery
    }

    private mutating func uuids() -> [BluetoothUUID] { (0..<count(upTo: 2)).map { _ in uuid() } }

    private mutating func security() -> AttributeSecurity {
        AttributeSecurity(read: level(), write: level(), notify: level())
    }

    private mutating func level() -> SecurityLevel {
        SecurityLevel.allCases.randomElement(using: &self) ?? .open
    }

    /// Text with all that may need care.
    private mutating func text() -> String {
        let characters: [Character] = ["a", "ß", "🔒", "\\", "\0", " ", "\n", ";", "=", "[", "0", "\u{301}"]
        return String((0..<(1 + count(upTo: 8))).compactMap { _ in characters.randomElement(using: &self) })
    }
}
