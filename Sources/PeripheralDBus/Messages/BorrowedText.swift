internal import Glibc

/// A text inside a message, which is compared in place and copied only on request.
///
/// It is valid as long as the message.
@safe
package struct BorrowedText: ~Copyable {
    let pointer: UnsafePointer<CChar>

    init(_ pointer: UnsafePointer<CChar>) {
        unsafe self.pointer = unsafe pointer
    }

    package func equals(_ literal: StaticString) -> Bool {
        literal.withUTF8Buffer { buffer in
            let count = buffer.count
            guard let start = buffer.baseAddress else { return unsafe pointer.pointee == 0 }
            return unsafe strncmp(pointer, start, count) == 0 && pointer[count] == 0
        }
    }

    package func equals(_ text: String) -> Bool {
        unsafe text.withCString { unsafe strcmp(pointer, $0) == 0 }
    }

    /// Gives `body` access to the bytes in place.
    package func withUTF8<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        let start = unsafe UnsafeRawPointer(pointer).assumingMemoryBound(to: UInt8.self)
        return unsafe body(Span(_unsafeStart: start, count: strlen(pointer)))
    }

    /// A copy that outlives the message.
    package var string: String {
        unsafe String(cString: pointer)
    }

    package static func == (text: borrowing BorrowedText, literal: StaticString) -> Bool {
        text.equals(literal)
    }
}

extension BorrowedText {
    private static let emptyLiteral: StaticString = ""

    /// The text of a missing field.
    static var empty: BorrowedText {
        unsafe BorrowedText(UnsafeRawPointer(emptyLiteral.utf8Start).assumingMemoryBound(to: CChar.self))
    }
}
