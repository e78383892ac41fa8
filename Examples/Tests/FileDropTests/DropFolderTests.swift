import ExampleSupport
import Glibc
import Testing

@testable import file_drop

@Suite struct DropFolderTests {
    private let file = Uploader("photo.jpg", length: 1000)

    private func withFolder(_ body: (DropFixture) throws -> Void) throws {
        let directory = try TemporaryDirectory(prefix: "file-drop-tests")
        defer { directory.remove() }
        try body(DropFixture(in: directory))
    }

    /// Returns the offset from which a folder continues a file; `nil` if the file is complete.
    private func offset(of header: FileHeader, in folder: DropFolder) throws -> UInt64? {
        guard case .partial(_, let offset, _) = try folder.open(header) else { return nil }
        return offset
    }

    @Test func aPartialFileOfAnotherHeaderIsReplaced() throws {
        let headers = [
            FileHeader(name: "photo.jpg", length: 1001, checksum: file.header.checksum),
            FileHeader(name: "photo.jpg", length: 1000, checksum: file.header.checksum ^ 1),
        ]
        for header in headers {
            try withFolder { fixture in
                try fixture.create("photo.jpg.part", Array(file.bytes.prefix(10)))
                try fixture.create("photo.jpg.part-header", file.header.packet)
                #expect(try offset(of: file.header, in: fixture.folder) == 10)
                #expect(try offset(of: header, in: fixture.folder) == 0)
                #expect(try fixture.content(of: "photo.jpg.part") == [])
                #expect(try offset(of: file.header, in: fixture.folder) == 0)
            }
        }
    }

    @Test func aPartialFileWithoutItsWholeHeaderIsReplaced() throws {
        for length in [0, 5] {
            try withFolder { fixture in
                try fixture.create("photo.jpg.part", Array(file.bytes.prefix(10)))
                try fixture.create("photo.jpg.part-header", Array(file.header.packet.prefix(length)))
                #expect(try offset(of: file.header, in: fixture.folder) == 0)
            }
        }
    }

    @Test func aPartialFileThatIsTooLongIsReplaced() throws {
        try withFolder { fixture in
            try fixture.create("photo.jpg.part", file.bytes + [1])
            try fixture.create("photo.jpg.part-header", file.header.packet)
            #expect(try offset(of: file.header, in: fixture.folder) == 0)
        }
    }

    @Test func aCompleteFileIsRecognizedByItsContent() throws {
        try withFolder { fixture in
            try fixture.create("photo.jpg", file.bytes)
            #expect(try offset(of: file.header, in: fixture.folder) == nil)
            try fixture.create("photo.jpg", [0xFF] + file.bytes.dropFirst())
            #expect(try offset(of: file.header, in: fixture.folder) == 0)
        }
    }

    /// A pipe would block the upload.
    @Test func aPipeIsReplaced() throws {
        try withFolder { fixture in
            for name in ["photo.jpg", "photo.jpg.part"] {
                #expect(mkfifo("\(fixture.directory.path)/\(name)", 0o600) == 0)
            }
            try fixture.create("photo.jpg.part-header", file.header.packet)
            guard case .partial(let part, 0, _) = try fixture.folder.open(file.header) else {
                Issue.record("The upload does not begin.")
                return
            }
            try part.append(file.bytes)
            try fixture.folder.complete(file.header, part)
            #expect(try fixture.content(of: "photo.jpg") == file.bytes)
        }
    }

    /// A link could lead out of the directory.
    @Test func aLinkIsNotUsed() throws {
        try withFolder { fixture in
            try fixture.create("target", [1])
            #expect(symlink("target", "\(fixture.directory.path)/photo.jpg.part") == 0)
            try fixture.create("photo.jpg.part-header", file.header.packet)
            #expect(throws: FileFailure("open", "\(fixture.directory.path)/photo.jpg.part", code: ELOOP)) {
                try fixture.folder.open(file.header)
            }
        }
    }

    @Test func onlyCompleteFilesCount() throws {
        try withFolder { fixture in
            for name in ["a", "b", "b.part", "c.part-header"] { try fixture.create(name, [1]) }
            #expect(mkdir("\(fixture.directory.path)/directory", 0o700) == 0)
            #expect(fixture.folder.completeFiles == 2)
            rmdir("\(fixture.directory.path)/directory")
            #expect(DropFolder("/nonexistent").completeFiles == 0)
        }
    }

    @Test func aDirectoryThatCannotBeCreatedIsAFailure() {
        #expect(throws: FileFailure("create", "/nonexistent/a", code: ENOENT)) {
            try DropFolder("/nonexistent/a").create()
        }
    }
}
