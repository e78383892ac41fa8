import Testing

@testable import file_drop

@Suite struct UploadTests {
    private let file = Uploader(name: "a.txt", bytes: Array("123456789".utf8))

    private func opened(at offset: UInt64 = 0, maximumLength: UInt64 = 100) -> Upload {
        var upload = Upload(maximumLength: maximumLength)
        _ = upload.receive(file.header.packet)
        _ = upload.opened(at: offset, checksum: CRC32(file.bytes.prefix(Int(offset))))
        return upload
    }

    @Test func theChecksumIsThatOfZip() {
        #expect(file.header.checksum == 0xCBF4_3926)
        #expect(CRC32.text(0x1F) == "0000001f")
    }

    @Test func aHeaderHasThisLayout() {
        let header = FileHeader(name: "ä", length: 0x0102, checksum: 0xA1B2_C3D4)
        #expect(
            header.packet == [2, 0xC3, 0xA4, 2, 1, 0, 0, 0, 0, 0, 0, 0xD4, 0xC3, 0xB2, 0xA1]
        )
        #expect(FileHeader(packet: header.packet)?.packet == header.packet)
    }

    @Test func eachAnswerHasItsPacket() {
        #expect(UploadAnswer.continues(at: 0x0102).packet == [0, 2, 1, 0, 0, 0, 0, 0, 0])
        for (number, answer) in [
            UploadAnswer.received, .wrongChecksum, .noSpace, .nameNotAllowed, .tooLarge, .busy, .malformed,
            .failed,
        ].enumerated() {
            #expect(answer.packet == [UInt8(number + 1)])
            #expect(UploadAnswer(packet: answer.packet) == answer)
        }
        #expect(UploadAnswer(packet: UploadAnswer.continues(at: 7).packet) == .continues(at: 7))
        for packet: [UInt8] in [[], [0], [9], [1, 0], [UInt8](repeating: 0, count: 10)] {
            #expect(UploadAnswer(packet: packet) == nil)
        }
    }

    @Test func aFileArrivesInPackets() {
        var upload = Upload(maximumLength: 9)
        #expect(upload.receive(file.header.packet) == [.open])
        #expect(upload.opened(at: 0, checksum: CRC32()) == [.answer(.continues(at: 0))])
        #expect(upload.receive(Array("1234".utf8)) == [.append(Array("1234".utf8))])
        #expect(upload.received == 4)
        #expect(
            upload.receive(Array("56789".utf8))
                == [.append(Array("56789".utf8)), .complete, .answer(.received)]
        )
        #expect(upload.hasEnded)
        #expect(upload.receive([1]) == [])
    }

    @Test func aPartialFileContinues() {
        var upload = opened(at: 4)
        #expect(upload.received == 4)
        let rest = Array("56789".utf8)
        #expect(upload.receive(rest) == [.append(rest), .complete, .answer(.received)])
    }

    /// The program may end between the last packet and the end of the upload.
    @Test func aPartialFileOfTheWholeLengthIsComplete() {
        var upload = Upload(maximumLength: 100)
        _ = upload.receive(file.header.packet)
        #expect(
            upload.opened(at: 9, checksum: CRC32(file.bytes))
                == [.answer(.continues(at: 9)), .complete, .answer(.received)]
        )
    }

    @Test func anEmptyFileNeedsNoData() {
        var upload = Upload(maximumLength: 0)
        #expect(upload.receive(Uploader(name: "empty", bytes: []).header.packet) == [.open])
        #expect(
            upload.opened(at: 0, checksum: CRC32())
                == [.answer(.continues(at: 0)), .complete, .answer(.received)]
        )
    }

    @Test func aFileThatIsThereIsNotSentAgain() {
        var upload = Upload(maximumLength: 100)
        _ = upload.receive(file.header.packet)
        #expect(upload.alreadyComplete() == [.answer(.continues(at: 9)), .answer(.received)])
        #expect(upload.hasEnded)
    }

    @Test func aWrongChecksumDeletesThePartialFile() {
        var upload = opened()
        let wrong = Array("12345678X".utf8)
        #expect(upload.receive(wrong) == [.append(wrong), .discard, .answer(.wrongChecksum)])
    }

    @Test func moreDataThanTheHeaderSaysIsMalformed() {
        var upload = opened(at: 4)
        #expect(upload.receive(Array("567890".utf8)) == [.discard, .answer(.malformed)])
        #expect(upload.hasEnded)
    }

    @Test func aPartialFileThatIsTooLongIsDeleted() {
        var upload = Upload(maximumLength: 100)
        _ = upload.receive(file.header.packet)
        #expect(upload.opened(at: 10, checksum: CRC32()) == [.discard, .answer(.failed)])
    }

    @Test func aMalformedHeaderEndsTheUpload() {
        let header = file.header.packet
        let invalid = [1, 0xFF] + header.suffix(12)
        let packets: [[UInt8]] = [
            [], [0], Array(header.dropLast()), header + [0], invalid, [255] + header.dropFirst(),
        ]
        for packet in packets {
            var upload = Upload(maximumLength: 100)
            #expect(upload.receive(packet) == [.answer(.malformed)])
            #expect(upload.hasEnded)
            #expect(upload.header == nil)
        }
    }

    @Test func aLongerFileThanTheLimitIsRefused() {
        var upload = Upload(maximumLength: 8)
        #expect(upload.receive(file.header.packet) == [.answer(.tooLarge)])
        var largest = Upload(maximumLength: 100)
        let header = FileHeader(name: "a", length: .max, checksum: 0)
        #expect(largest.receive(header.packet) == [.answer(.tooLarge)])
    }

    @Test func aBadNameIsRefused() {
        // As arguments of the test, these names would disturb the log.
        for name in [
            "", ".hidden", "..", "../x", "a/b", "/", "a\0b", "a\nb", "a\u{7F}", "a\u{9B}b", "a.part",
            "a.part-header", "a\u{0600}.part", String(repeating: "a", count: 65),
            String(repeating: "ä", count: 33),
        ] {
            var upload = Upload(maximumLength: 100)
            let header = FileHeader(name: name, length: 1, checksum: 0)
            #expect(upload.receive(header.packet) == [.answer(.nameNotAllowed)])
        }
    }

    @Test func otherNamesAreAllowed() {
        for name in ["a", "a.b.c", "ä b-c.partial", "part", String(repeating: "ä", count: 32)] {
            var upload = Upload(maximumLength: 100)
            #expect(upload.receive(FileHeader(name: name, length: 1, checksum: 0).packet) == [.open])
        }
    }

    @Test func aFailureEndsTheUpload() {
        var upload = opened()
        _ = upload.receive([1])
        #expect(upload.failed(.noSpace) == [.answer(.noSpace)])
        #expect(upload.hasEnded)
        #expect(upload.receive([2]) == [])
    }

    /// A central that does not wait for the offset sends data before the file is open.
    @Test func aPacketWhileTheFileOpensIsIgnored() {
        var upload = Upload(maximumLength: 100)
        _ = upload.receive(file.header.packet)
        #expect(upload.receive([1]) == [])
        #expect(upload.opened(at: 0, checksum: CRC32()) == [.answer(.continues(at: 0))])
    }

    @Test func anAnswerCannotComeBeforeTheHeader() {
        var upload = Upload(maximumLength: 100)
        #expect(upload.opened(at: 0, checksum: CRC32()) == [])
        #expect(upload.alreadyComplete() == [])
    }

    @Test func aBarShowsTheProgress() {
        let header = FileHeader(name: "a", length: 60, checksum: 0)
        #expect(ProgressBars.bar(header, 31) == "[###############...............] 31 of 60 bytes of a")
        let empty = FileHeader(name: "b", length: 0, checksum: 0)
        #expect(ProgressBars.bar(empty, 0) == "[##############################] 0 of 0 bytes of b")
    }
}
