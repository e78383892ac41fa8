internal import Glibc
internal import PeripheralDBus

/// A program of the classic packet filter, which the kernel runs for each message to a socket.
struct SocketFilter {
    /// `struct sock_filter` of `<linux/filter.h>`.
    struct Instruction: Equatable {
        var code: UInt16
        var jumpIfTrue: UInt8 = 0
        var jumpIfFalse: UInt8 = 0
        var operand: UInt32

        static func loadByte(_ offset: UInt32) -> Self { Self(code: 0x30, operand: offset) }
        static func loadHalf(_ offset: UInt32) -> Self { Self(code: 0x28, operand: offset) }
        static func keepBits(_ mask: UInt32) -> Self { Self(code: 0x54, operand: mask) }
        static func pass(_ count: UInt32) -> Self { Self(code: 0x06, operand: count) }

        /// Skips the given number of instructions in either case.
        static func ifEqual(_ value: UInt32, skip: UInt8, else other: UInt8) -> Self {
            Self(code: 0x15, jumpIfTrue: skip, jumpIfFalse: other, operand: value)
        }
    }

    /// `struct sock_fprog`.
    @unsafe private struct Program {
        var count: CUnsignedShort
        var instructions: UnsafePointer<Instruction>
    }

    let program: [Instruction]

    /// Applies the filter permanently to the frames that a socket receives.
    ///
    /// - Returns: Whether the kernel applies it.
    func attach(to socket: OwnedFileDescriptor) -> Bool {
        unsafe program.withUnsafeBufferPointer { instructions in
            guard let start = instructions.baseAddress else { return false }
            var program = unsafe Program(count: CUnsignedShort(instructions.count), instructions: start)
            let size = socklen_t(unsafe MemoryLayout<Program>.size)
            guard unsafe setsockopt(socket.descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, size) == 0
            else { return false }
            var isLocked: CInt = 1
            let flagSize = socklen_t(MemoryLayout<CInt>.size)
            return unsafe setsockopt(socket.descriptor, SOL_SOCKET, SO_LOCK_FILTER, &isLocked, flagSize) == 0
        }
    }
}
