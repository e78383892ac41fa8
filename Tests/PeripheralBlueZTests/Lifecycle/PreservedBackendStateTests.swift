import Testing

@testable import PeripheralBlueZ

struct PreservedBackendStateTests {
    @Test(
        arguments: [
            PreservedBackendState(record: "", psms: [], alias: nil),
            PreservedBackendState(record: "record", psms: [], alias: nil),
            PreservedBackendState(record: "record", psms: [], alias: "Lamp"),
            PreservedBackendState(record: "record", psms: [0x80, 0xC5], alias: nil),
            PreservedBackendState(record: "record", psms: [0x80, 0xC5], alias: "Lamp"),
            PreservedBackendState(record: "record", psms: [], alias: "psm 128"),
            PreservedBackendState(record: "record", psms: [0x80], alias: "two\nlines"),
        ]
    )
    func isReadAsItIsWritten(state: PreservedBackendState) {
        #expect(PreservedBackendState(state.text) == state)
    }

    @Test func textOfEarlierVersionsIsRead() {
        let state = PreservedBackendState("record\nLamp")
        #expect(state == PreservedBackendState(record: "record", psms: [], alias: "Lamp"))
    }

    @Test func damagedNumbersAreLeftOut() {
        #expect(PreservedBackendState("record\npsm 128 x 99999\nLamp").psms == [128])
    }
}
