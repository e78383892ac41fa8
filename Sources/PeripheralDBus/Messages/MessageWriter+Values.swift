extension MessageWriter {
    package mutating func append(_ values: [BusValue]) {
        for value in values { append(value) }
    }

    /// Appends a value of any type.
    package mutating func append(_ value: BusValue) {
        append(value, depth: 0)
    }

    private mutating func append(_ value: BusValue, depth: Int) {
        guard depth <= DecodingBudget.maximumDepth else {
            return fail(
                .limitExceeded("the value is nested deeper than \(DecodingBudget.maximumDepth) containers")
            )
        }
        switch value {
        case .byte(let value): append(value)
        case .bool(let value): append(value)
        case .int16(let value): append(value)
        case .uint16(let value): append(value)
        case .int32(let value): append(value)
        case .uint32(let value): append(value)
        case .int64(let value): append(value)
        case .uint64(let value): append(value)
        case .double(let value): append(value)
        case .string(let value): append(value)
        case .objectPath(let value): append(value)
        case .signature(let value): append(value)
        case .fileDescriptor(let value): append(fileDescriptor: value.descriptor)
        case .bytes(let value): append(bytes: value)
        case .array(let element, let values):
            guard element.isSingle else {
                return fail(.signatureMismatch(expected: "the type of one element", found: element.text))
            }
            appendArray(of: element) { array in
                for value in values { array.append(value, as: element, depth: depth + 1) }
            }
        case .dictionary(let dictionary): append(dictionary, depth: depth)
        case .structure(let fields):
            guard !fields.isEmpty else {
                return fail(.invalidValue("a D-Bus structure has at least one field"))
            }
            // D-Bus allows 32 nested structures. libdbus checks the types of arrays and variants, but not
            // those of structures.
            guard depth > 0 || value.signature.isSingle else {
                return fail(.invalidValue("D-Bus does not allow the structure type \(value.signature.text)"))
            }
            appendStructure { structure in
                for field in fields { structure.append(field, depth: depth + 1) }
            }
        case .variant(let inner):
            appendVariant(inner.signature) { $0.append(inner, depth: depth + 1) }
        }
    }

    private mutating func append(_ dictionary: BusDictionary, depth: Int) {
        let (key, value) = (dictionary.keySignature, dictionary.valueSignature)
        guard key.isSingle, value.isSingle else {
            return fail(
                .signatureMismatch(expected: "a key and a value", found: "{\(key.text)\(value.text)}")
            )
        }
        appendArray(of: Signature(unchecked: "{\(key.text)\(value.text)}")) { array in
            for item in dictionary.entries {
                array.appendEntry { entry in
                    entry.append(item.key, as: key, depth: depth + 1)
                    entry.append(item.value, as: value, depth: depth + 1)
                }
            }
        }
    }

    private mutating func append(_ value: BusValue, as expected: Signature, depth: Int) {
        let found = value.signature
        guard found == expected else {
            return fail(.signatureMismatch(expected: expected.text, found: found.text))
        }
        append(value, depth: depth)
    }
}
