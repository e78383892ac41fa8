import PeripheralKit

extension ValidationTests {
    private static let latitude = PresentationFormat(.sint32, exponent: -7, unit: .degree)
    private static let longitude = PresentationFormat(.sint32, exponent: -7, unit: .degree)

    static let descriptors: [Case] = [
        about(
            "four trigger settings",
            Characteristic<UInt8>(0x2A76, value: 1) {
                for _ in 0..<4 { Descriptor<UInt8>(0x290D, value: 3) }
            },
            "it has 4 trigger settings, but can have at most 3",
            "remove the least important ones"
        ),
        about(
            "a presentation format of 6 bytes",
            Characteristic<UInt8>(0x2A19, value: 1) {
                Descriptor<[UInt8]>(0x2904, value: [4, 0, 0, 0x27, 1, 0])
            },
            descriptor: "2904",
            "its value has 6 bytes instead of 7",
            "use PresentationFormat(…)"
        ),
        about(
            "a type of value that there is not",
            Characteristic<UInt8>(0x2A19, value: 1) { PresentationFormat(.init(rawValue: 0x1D)) },
            descriptor: "2904",
            "there is no format type with the number 29",
            "use one of the named types"
        ),
        about(
            "an exponent of a text",
            Characteristic<String>(0x2A29, value: "Acme") { PresentationFormat(.utf8, exponent: 1) },
            descriptor: "2904",
            "it has an exponent, which only integers have",
            "leave out the exponent"
        ),
        about(
            "two presentation formats without an aggregate format",
            Characteristic<UInt8>(0x2A19, value: 1) {
                PresentationFormat(.uint4)
                PresentationFormat(.uint4)
            },
            "it has 2 presentation formats, but no descriptor combines them",
            "add AggregateFormat()"
        ),
        about(
            "an aggregate format of one part",
            Characteristic<UInt8>(0x2A19, value: 1) {
                PresentationFormat(.uint4)
                AggregateFormat()
            },
            descriptor: "2905",
            "it consists of fewer than two presentation formats",
            "declare a PresentationFormat for each part of the value"
        ),
        about(
            "an aggregate format that names what is not there",
            Characteristic<UInt8>(0x2A19, value: 1) {
                latitude
                AggregateFormat(of: latitude, longitude)
            },
            descriptor: "2905",
            "it names a presentation format that is not part of the peripheral",
            "put that PresentationFormat in a characteristic, using the same constant"
        ),
        about(
            "an aggregate format as bytes",
            Characteristic<UInt8>(0x2A19, value: 1) { Descriptor<[UInt8]>(0x2905, value: [4, 0, 5, 0]) },
            descriptor: "2905",
            "its value consists of handles on the air, which only the Bluetooth stack knows",
            "use AggregateFormat()"
        ),
        about(
            "a description that cannot be read",
            Characteristic<UInt8>(0x2A19, [.read, .writableAuxiliaries]) {
                Read { 1 }
                Descriptor<String>(0x2901) { Write { _ in } }
            },
            descriptor: "2901",
            "it describes the value, but cannot be read",
            "add Read { … }"
        ),
        about(
            "a range that can be written",
            Characteristic<UInt8>(0x2A19, value: 1) {
                Descriptor<[UInt8]>(0x2906) {
                    Read { [0, 1] }
                    Write { _ in }
                }
            },
            descriptor: "2906",
            "centrals cannot write a descriptor of this type",
            "leave out Write { … }"
        ),
        about(
            "a description that promises to be writable",
            Characteristic<UInt8>(0x2A19, [.read, .writableAuxiliaries]) {
                Read { 1 }
                UserDescription("Level")
            },
            description: "Level",
            "it promises a writable user description but has none",
            "add Descriptor<String>(0x2901) { Read { … } Write { … } }, or leave out .writableAuxiliaries"
        ),
        about(
            "a writable description that nobody is told of",
            Characteristic<UInt8>(0x2A19, value: 1) {
                Descriptor<String>(0x2901) {
                    Read { "Level" }
                    Write { _ in }
                }
            },
            severity: .warning,
            descriptor: "2901",
            "centrals do not learn that they can write it",
            "add the property .writableAuxiliaries to the characteristic"
        ),
        Case(
            testDescription: "an aggregate format that names what stands in two places",
            peripheral: Peripheral("P") {
                GATTService(0x180F) {
                    Characteristic<UInt8>(0x2A19, value: 1) { latitude }
                    Characteristic<UInt8>(0x2A1A, value: 1) { latitude }
                    Characteristic<UInt8>(0x2A1B, value: 1) {
                        longitude
                        AggregateFormat(of: latitude, longitude)
                    }
                }
            },
            element: "descriptor 2905 of characteristic 2a1b of service 180f",
            reason: "it names a presentation format that is declared more than once",
            remedy: "create a separate PresentationFormat for each place"
        ),
    ]
}
