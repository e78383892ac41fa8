import PeripheralCore
import Testing

@testable import PeripheralKit

struct DocumentAssemblyTests {
    private let a = Central(address: .numbered(1))
    private let b = Central(address: .numbered(2))
    private let marker = Array("EOM".utf8)

    private func take(
        _ value: [UInt8],
        of central: Central,
        on connection: UInt64 = 0,
        _ assembly: inout DocumentAssembly
    ) -> ReceivedDocument? {
        assembly.take(WriteBuffer.Write(value: value, central: central, connection: connection)) { _, _ in
            true
        }
    }

    @Test func eachCentralHasDocumentsOfItsOwn() {
        var assembly = DocumentAssembly(until: marker, maximumSize: 10)
        let chunks: [(Central, [UInt8])] = [(a, [1, 2]), (b, [3]), (a, [4])]
        for (central, chunk) in chunks {
            let document = take(chunk, of: central, &assembly)
            #expect(document == nil)
        }
        let first = take(marker, of: a, &assembly)
        #expect(first?.bytes == [1, 2, 4] && first?.central == a && first?.isComplete == true)
        #expect(take(marker, of: b, &assembly)?.bytes == [3])
        // The next begins again, and may be empty.
        #expect(take(marker, of: b, &assembly)?.bytes == [])
    }

    @Test(arguments: [(10, true), (9, false)])
    func whatIsLongerThanAllowedIsCutAndSaidSo(size: Int, isComplete: Bool) {
        var assembly = DocumentAssembly(until: marker, maximumSize: size)
        for chunk: [UInt8] in [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]] { _ = take(chunk, of: a, &assembly) }
        let document = take(marker, of: a, &assembly)
        #expect(document?.bytes == Array(1...UInt8(size)))
        #expect(document?.isComplete == isComplete)
        _ = take([1], of: a, &assembly)
        #expect(take(marker, of: a, &assembly)?.isComplete == true)
    }

    @Test func aNewConnectionBeginsANewDocument() {
        var assembly = DocumentAssembly(until: marker, maximumSize: 10)
        _ = take([1], of: a, on: 1, &assembly)
        _ = take([2], of: a, on: 2, &assembly)
        #expect(take(marker, of: a, on: 2, &assembly)?.bytes == [2])
    }

    @Test func whatWasBegunByThoseWhoAreGoneIsForgotten() {
        var assembly = DocumentAssembly(until: marker, maximumSize: 10)
        _ = take([1], of: a, &assembly)
        _ = assembly.take(WriteBuffer.Write(value: [2], central: b)) { id, _ in id != a.id }
        #expect(take(marker, of: a, &assembly)?.bytes == [])
    }
}
