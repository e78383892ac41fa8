extension BusValue {
    /// The value without any variants around it.
    package var unwrapped: BusValue {
        if case .variant(let inner) = self { inner.unwrapped } else { self }
    }

    /// The entry with this key of a dictionary with string keys, without its variant.
    ///
    /// `nil` for a value of another type, or if there is no such key.
    package subscript(_ key: String) -> BusValue? {
        guard case .dictionary(let dictionary) = unwrapped else { return nil }
        return dictionary[.string(key)]?.unwrapped
    }

    package var string: String? {
        if case .string(let value) = unwrapped { value } else { nil }
    }

    package var objectPath: ObjectPath? {
        if case .objectPath(let value) = unwrapped { value } else { nil }
    }

    package var bool: Bool? {
        if case .bool(let value) = unwrapped { value } else { nil }
    }

    package var bytes: [UInt8]? {
        if case .bytes(let value) = unwrapped { value } else { nil }
    }

    package var dictionary: BusDictionary? {
        if case .dictionary(let value) = unwrapped { value } else { nil }
    }

    package var elements: [BusValue]? {
        if case .array(_, let values) = unwrapped { values } else { nil }
    }

    /// Returns an integer of any D-Bus integer type, if it fits.
    package func integer<Integer: FixedWidthInteger>(_: Integer.Type = Integer.self) -> Integer? {
        switch unwrapped {
        case .byte(let value): Integer(exactly: value)
        case .int16(let value): Integer(exactly: value)
        case .uint16(let value): Integer(exactly: value)
        case .int32(let value): Integer(exactly: value)
        case .uint32(let value): Integer(exactly: value)
        case .int64(let value): Integer(exactly: value)
        case .uint64(let value): Integer(exactly: value)
        default: nil
        }
    }
}
