import ExampleSupport
import Glibc
import PeripheralKit
import PeripheralTesting
import Testing

@testable import file_drop

@Suite(.timeLimit(.minutes(1)))
struct RefusedUploadTests {
    private let file = Uploader("photo.jpg", length: 100_000)

    @Test func aFullDiskHasItsStatusAndTheUploadContinuesLater() async throws {
        let file = file
        let disk = TestDisk(space: 60_000)
        try await DropFixture.run(disk: disk) { fixture, phone, _ in
            try fixture.create("photo.jpg", [1, 2, 3])
            try fixture.create("other.jpg", [4])
            var channel = try await fixture.openChannel(of: phone)
            #expect(try await file.upload(over: channel) == .noSpace)
            #expect(try await channel.receive() == nil)
            let failure = await fixture.firstFailure()
            #expect(
                failure?.description
                    == "Cannot write \(fixture.directory.path)/photo.jpg.part: No space left on device."
            )
            #expect(try fixture.content(of: "photo.jpg") == [1, 2, 3])
            #expect(try fixture.content(of: "other.jpg") == [4])

            disk.free(1_000_000)
            channel = try await fixture.openChannel(of: phone)
            let headerLength = file.header.packet.count
            #expect(try await file.begin(over: channel) == .continues(at: UInt64(60_000 - headerLength)))
            #expect(try await file.finish(from: 60_000 - headerLength, over: channel) == .received)
            #expect(try fixture.content(of: "photo.jpg") == file.bytes)
        }
    }

    @Test func aDiskWithoutSpaceForTheHeaderRefusesTheUpload() async throws {
        let file = file
        try await DropFixture.run(disk: TestDisk(space: 5)) { fixture, phone, _ in
            let channel = try await fixture.openChannel(of: phone)
            #expect(try await file.upload(over: channel) == .noSpace)
            #expect(!fixture.names.contains("photo.jpg.part"))
        }
    }

    @Test func aFileThatCannotFitIsRefusedAtItsBeginning() throws {
        let directory = try TemporaryDirectory(prefix: "file-drop-tests")
        defer { directory.remove() }
        let fixture = DropFixture(in: directory)
        let header = FileHeader(name: "huge", length: 1 << 62, checksum: 0)
        #expect(throws: FileFailure("write", directory.path, code: ENOSPC)) {
            try fixture.folder.open(header)
        }
        #expect(fixture.names == [])
    }

    @Test func aWrongChecksumDeletesThePartialFileAlone() async throws {
        let wrong = FileHeader(name: "photo.jpg", length: 100_000, checksum: file.header.checksum ^ 1)
        let file = file
        try await DropFixture.run { fixture, phone, _ in
            try fixture.create("photo.jpg", [1, 2, 3])
            let channel = try await fixture.openChannel(of: phone)
            try await channel.send(wrong.packet)
            #expect(try await channel.receive() == UploadAnswer.continues(at: 0).packet)
            #expect(try await file.finish(from: 0, over: channel) == .wrongChecksum)
            #expect(fixture.names == ["photo.jpg"])
            #expect(try fixture.content(of: "photo.jpg") == [1, 2, 3])
        }
    }

    @Test(arguments: [
        (FileHeader(name: "../x", length: 1, checksum: 0).packet, UploadAnswer.nameNotAllowed),
        (FileHeader(name: "x", length: 10_000_001, checksum: 0).packet, .tooLarge),
        ([1, 2, 3], .malformed),
    ])
    func aRefusedHeaderHasItsStatus(_ packet: [UInt8], _ status: UploadAnswer) async throws {
        try await DropFixture.run { fixture, phone, _ in
            let channel = try await fixture.openChannel(of: phone)
            try await channel.send(packet)
            #expect(try await channel.receive() == status.packet)
            #expect(try await channel.receive() == nil)
            #expect(fixture.names == [])
        }
    }

    @Test func moreDataThanTheHeaderSaysIsRefused() async throws {
        let file = file
        try await DropFixture.run { fixture, phone, _ in
            let channel = try await fixture.openChannel(of: phone)
            #expect(try await file.begin(over: channel) == .continues(at: 0))
            try await file.send(0..<99_999, over: channel)
            try await channel.send([1, 2])
            #expect(try await channel.receive() == UploadAnswer.malformed.packet)
            #expect(fixture.names == [])
        }
    }
}
