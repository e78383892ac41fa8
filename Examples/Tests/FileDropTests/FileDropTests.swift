import ExampleSupport
import PeripheralKit
import PeripheralTesting
import Testing

@testable import file_drop

@Suite(.timeLimit(.minutes(1)))
struct FileDropTests {
    private let file = Uploader("photo.jpg", length: 100_000)

    @Test func aFileArrivesAndIsCounted() async throws {
        let file = file
        try await DropFixture.run { fixture, phone, _ in
            try await phone.subscribe(to: fixture.drop.files)
            #expect(try await phone.read(fixture.drop.files) == 0)
            let channel = try await fixture.openChannel(of: phone)
            #expect(try await file.upload(over: channel) == .received)
            #expect(try await channel.receive() == nil)
            #expect(try await phone.nextUpdate(of: fixture.drop.files) == 1)
            #expect(try await phone.read(fixture.drop.files) == 1)
            #expect(try fixture.content(of: "photo.jpg") == file.bytes)
            #expect(fixture.names == ["photo.jpg"])
        }
    }

    @Test func anEmptyFileArrives() async throws {
        try await DropFixture.run { fixture, phone, _ in
            let channel = try await fixture.openChannel(of: phone)
            #expect(try await Uploader("empty", length: 0).upload(over: channel) == .received)
            #expect(try fixture.content(of: "empty") == [])
        }
    }

    @Test func anUploadContinuesAfterADisconnection() async throws {
        let file = file
        try await DropFixture.run { fixture, phone, _ in
            var channel = try await fixture.openChannel(of: phone)
            #expect(try await file.begin(over: channel) == .continues(at: 0))
            try await file.send(0..<50_000, over: channel)
            await fixture.untilReceived(50_000)
            phone.disconnect()
            await fixture.untilInterrupted()
            #expect(fixture.names == ["photo.jpg.part", "photo.jpg.part-header"])
            #expect(try fixture.content(of: "photo.jpg.part") == Array(file.bytes.prefix(50_000)))

            try await phone.connect()
            #expect(try await phone.read(fixture.drop.files) == 0)
            channel = try await fixture.openChannel(of: phone)
            #expect(try await file.begin(over: channel) == .continues(at: 50_000))
            #expect(try await file.finish(from: 50_000, over: channel) == .received)
            #expect(try fixture.content(of: "photo.jpg") == file.bytes)
            #expect(fixture.names == ["photo.jpg"])
        }
    }

    @Test func anUploadContinuesAfterARestart() async throws {
        let file = file
        let directory = try TemporaryDirectory(prefix: "file-drop-tests")
        defer { directory.remove() }
        let first = DropFixture(in: directory)
        try await first.drop.peripheral.test { phone in
            let channel = try await first.openChannel(of: phone)
            #expect(try await file.begin(over: channel) == .continues(at: 0))
            try await file.send(0..<70_000, over: channel)
            await first.untilReceived(70_000)
        }
        let second = DropFixture(in: directory)
        try await second.drop.peripheral.test { phone in
            let channel = try await second.openChannel(of: phone)
            #expect(try await file.begin(over: channel) == .continues(at: 70_000))
            #expect(try await file.finish(from: 70_000, over: channel) == .received)
            #expect(try second.content(of: "photo.jpg") == file.bytes)
        }
    }

    @Test func twoCentralsUploadAtTheSameTime() async throws {
        let (file, other) = (file, Uploader("other.jpg", length: 120_000, seed: 7))
        try await DropFixture.run { fixture, phone, _ in
            let tablet = phone.makeAnother()
            try await tablet.connect()
            let channels = (
                try await fixture.openChannel(of: phone), try await fixture.openChannel(of: tablet)
            )
            #expect(try await file.begin(over: channels.0) == .continues(at: 0))
            #expect(try await other.begin(over: channels.1) == .continues(at: 0))
            async let first = file.finish(from: 0, over: channels.0)
            async let second = other.finish(from: 0, over: channels.1)
            let statuses = try await (first, second)
            #expect(statuses == (.received, .received))
            #expect(try fixture.content(of: "photo.jpg") == file.bytes)
            #expect(try fixture.content(of: "other.jpg") == other.bytes)
            #expect(try await tablet.read(fixture.drop.files) == 2)
            tablet.disconnect()
        }
    }

    @Test func aNameIsUploadedByOneCentralAtATime() async throws {
        let (file, other) = (file, Uploader("photo.jpg", length: 10, seed: 7))
        try await DropFixture.run { fixture, phone, _ in
            let channel = try await fixture.openChannel(of: phone)
            #expect(try await file.begin(over: channel) == .continues(at: 0))
            let tablet = phone.makeAnother()
            try await tablet.connect()
            let refused = try await fixture.openChannel(of: tablet)
            #expect(try await other.begin(over: refused) == .busy)
            #expect(try await refused.receive() == nil)
            #expect(try await file.finish(from: 0, over: channel) == .received)
            #expect(try fixture.content(of: "photo.jpg") == file.bytes)
            tablet.disconnect()
        }
    }

    @Test func aNameIsFreeAsSoonAsACentralHasItsStatus() async throws {
        try await DropFixture.run { fixture, phone, _ in
            let tablet = phone.makeAnother()
            try await tablet.connect()
            var channel = try await fixture.openChannel(of: phone)
            for round in 0..<50 {
                let file = Uploader("photo.jpg", length: 10 + round)
                let next = try await fixture.openChannel(of: round.isMultiple(of: 2) ? tablet : phone)
                #expect(try await file.upload(over: channel) == .received)
                channel = next
            }
            tablet.disconnect()
        }
    }

    /// A central can return before the peripheral has noticed the end of its former channel.
    @Test func aNewUploadOfTheSameCentralTakesThePlaceOfTheFormer() async throws {
        let file = file
        try await DropFixture.run { fixture, phone, _ in
            let former = try await fixture.openChannel(of: phone)
            #expect(try await file.begin(over: former) == .continues(at: 0))
            try await file.send(0..<20_000, over: former)
            await fixture.untilReceived(20_000)
            let channel = try await fixture.openChannel(of: phone)
            #expect(try await file.begin(over: channel) == .continues(at: 20_000))
            #expect(try await former.receive() == nil)
            #expect(try await file.finish(from: 20_000, over: channel) == .received)
            #expect(try fixture.content(of: "photo.jpg") == file.bytes)
        }
    }

    @Test func anUploadNeedsPairing() async throws {
        let file = file
        let directory = try TemporaryDirectory(prefix: "file-drop-tests")
        defer { directory.remove() }
        let fixture = DropFixture(in: directory, isOpen: false)
        try await fixture.drop.peripheral.test { phone async throws in
            await #expect(throws: ChannelRefusal.insufficientEncryption) {
                _ = try await fixture.openChannel(of: phone)
            }
            await #expect(throws: ATTError.insufficientEncryption) {
                _ = try await phone.read(fixture.drop.files)
            }
            try await phone.pair(.justWorks)
            #expect(try await file.upload(over: fixture.openChannel(of: phone)) == .received)
        }
    }
}
