import CPeripheralDBus

@testable import PeripheralDBus

extension Entrance {
    /// Messages of the bus: what the bus daemon passes on from any program.
    ///
    /// The first byte says what follows: a message as a socket gets it, a signature with a body, values, or a
    /// name.
    static let busMessages = Entrance(name: "bus-messages") { bytes in
        var feed = Feed(bytes)
        switch feed.byte() % 4 {
        case 0:
            guard let message = Message(bytes: feed.remaining()) else { return }
            examineFields(of: message)
            examineValues(of: message)
        case 1:
            let signature = feed.text()
            let reads = feed.bytes()
            guard !signature.utf8.contains(0),
                let message = Message(signature: signature, body: feed.remaining())
            else { return }
            examineReads(of: message, reads)
            examineValues(of: message)
        case 2:
            var values: [BusValue] = []
            while !feed.isAtEnd, values.count < 8 { values.append(feed.busValue()) }
            examineWriting(values)
        default: examineNames(feed.byte(), feed.text(), feed.text())
        }
    }

    /// What names a message is read without a copy, and is the same as its copy.
    private static func examineFields(of message: Message) {
        let incoming = IncomingMessage(message.pointer)
        let path = incoming.path.string
        check(incoming.path.equals(path))
        check(incoming.interface.equals(incoming.interface.string))
        check(incoming.member.equals(incoming.member.string))
        check(incoming.sender.equals(incoming.sender.string))
        check(incoming.signature.equals(incoming.signature.string))
        check(incoming.path.withUTF8 { $0.count } == path.utf8.count)
        check(incoming.member.equals("Fuzz" as StaticString) == (incoming.member.string == "Fuzz"))
        check(incoming.member.equals("" as StaticString) == incoming.member.string.isEmpty)
    }

    /// What can be read can be written, unless the depth is at its limit; it is then read as the same.
    private static func examineValues(of message: Message) {
        var reader = MessageReader(message.pointer)
        guard let values = try? reader.readValues() else { return }
        check(reader.isAtEnd)
        guard !values.contains(where: holdsDescriptor) else { return }
        let copy = Message.empty()
        var writer = MessageWriter(copy.pointer)
        writer.append(values)
        check(writer.failure == nil, "\(values): \(writer.failure as Any)")
        check(values.signature.text == IncomingMessage(message.pointer).signature.string)
        examineWriting(values)
    }

    /// What can be written is read as the same.
    private static func examineWriting(_ values: [BusValue]) {
        let message = Message.empty()
        var writer = MessageWriter(message.pointer)
        writer.append(values)
        guard writer.failure == nil else { return }
        var reader = MessageReader(message.pointer)
        guard let read = try? reader.readValues() else { return check(false, "\(values) is not read") }
        check(read.signature == values.signature, "\(values) becomes \(read)")
        let again = Message.empty()
        var second = MessageWriter(again.pointer)
        second.append(read)
        check(second.failure == nil, "\(values) becomes \(read): \(second.failure as Any)")
        check(message.bytes == again.bytes, "\(values) becomes \(read)")
        // Who sends others is disconnected by the bus.
        check(Message(bytes: message.bytes) != nil, "libdbus does not take \(values)")
        for value in read { examineAccess(to: value) }
        for element in read.signature.elements { check(element.isSingle) }
        check(read.signature.elements.map(\.text).joined() == read.signature.text)
    }

    /// Whatever is asked for, a reader gives it or refuses, and always comes to an end.
    private static func examineReads(of message: Message, _ reads: [UInt8]) {
        var reader = MessageReader(message.pointer)
        for read in reads {
            let before = reader.signature
            do throws(BusError) {
                try take(read, from: &reader)
            } catch {
                // A value of another type stays where it is.
                if case .signatureMismatch = error, read % 18 < 13 { check(reader.signature == before) }
            }
        }
    }

    private static func take(_ read: UInt8, from reader: inout MessageReader) throws(BusError) {
        switch read % 18 {
        case 0: _ = try reader.readByte()
        case 1: _ = try reader.readBool()
        case 2: _ = try reader.readInt16()
        case 3: _ = try reader.readUInt16()
        case 4: _ = try reader.readInt32()
        case 5: _ = try reader.readUInt32()
        case 6: _ = try reader.readInt64()
        case 7: _ = try reader.readUInt64()
        case 8: _ = try reader.readDouble()
        case 9: _ = try reader.readString()
        case 10: _ = try reader.readObjectPath()
        case 11: _ = try reader.readSignature()
        case 12: _ = try reader.readBytes()
        case 13:
            _ = try reader.readProperties { (key, value) throws(BusError) in
                if key.equals("Value" as StaticString) {
                    _ = try value.readBytes()
                } else {
                    _ = try value.readValue()
                }
            }
        case 14:
            try reader.readVariant { (inner) throws(BusError) in _ = try inner.readValue() }
        case 15:
            try reader.readArray(of: "s") { (element) throws(BusError) in
                _ = try element.readBorrowedString().string
            }
        case 16:
            try reader.readArray(of: "o") { (element) throws(BusError) in
                _ = try element.readBorrowedObjectPath().string
            }
        default: reader.skip()
        }
    }

    private static func holdsDescriptor(_ value: BusValue) -> Bool { value.signature.text.contains("h") }

    private static func examineAccess(to value: BusValue) {
        if case .variant = value.unwrapped { check(false, "\(value) is not unwrapped") }
        _ = (value.string, value.objectPath, value.bool, value.bytes, value.dictionary, value.elements)
        let (wide, narrow) = (value.integer(Int64.self), value.integer(UInt8.self))
        if let wide, let narrow { check(wide == Int64(narrow)) }
    }

    /// A name is what libdbus takes for one, and its text is the name's.
    private static func examineNames(_ kind: UInt8, _ text: String, _ other: String) {
        func examine<Text: BusText>(_ type: Text.Type) {
            guard let name = try? Text(text) else { return }
            check(name.text == text && name.description == text)
            plantedFault(Array(name.text.utf8), count: 4)
        }
        switch kind % 6 {
        case 0: examine(InterfaceName.self)
        case 1: examine(MemberName.self)
        case 2: examine(ErrorName.self)
        case 3:
            examine(BusName.self)
            if let name = try? BusName(text) { check(name.isUnique == text.hasPrefix(":")) }
        case 4: examine(Signature.self)
        default:
            examine(ObjectPath.self)
            guard let path = try? ObjectPath(text), let longer = try? path.appending(other) else { return }
            check(longer.isBelow(path) && !path.isBelow(path) && !path.isBelow(longer), "\(path), \(other)")
            check(!other.isEmpty && !other.contains("/"), other)
        }
    }
}
