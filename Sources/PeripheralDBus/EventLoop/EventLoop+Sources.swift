internal import CPeripheralGLib

/// The events to watch for on a file descriptor, and the events found on it.
package struct FileDescriptorEvents: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static let readable = FileDescriptorEvents(rawValue: G_IO_IN.rawValue)
    package static let writable = FileDescriptorEvents(rawValue: G_IO_OUT.rawValue)
    /// Always reported.
    package static let error = FileDescriptorEvents(rawValue: G_IO_ERR.rawValue)
    /// Always reported.
    package static let hangUp = FileDescriptorEvents(rawValue: G_IO_HUP.rawValue)
}

extension EventLoop {
    /// Runs `body` on the loop after `delay`.
    ///
    /// Call it on the loop.
    ///
    /// The delay is rounded up to whole milliseconds. A negative delay counts as zero. Timers that are due at
    /// the same time run in any order.
    package func schedule(after delay: Duration, _ body: @escaping () -> Void) -> LoopSource {
        let source = unsafe LoopSource(g_timeout_source_new(delay.wholeMilliseconds), on: self)
        source.start(once: body)
        return source
    }

    /// Runs `handler` on the loop whenever one of `events` occurs on a file descriptor.
    ///
    /// Call it on the loop.
    ///
    /// The descriptor must stay open until the returned source is cancelled.
    package func watch(
        fileDescriptor: CInt,
        events: FileDescriptorEvents,
        _ handler: @escaping (FileDescriptorEvents) -> Void
    ) -> LoopSource {
        let condition = GIOCondition(rawValue: events.rawValue)
        let source = unsafe LoopSource(g_unix_fd_source_new(fileDescriptor, condition), on: self)
        source.start(watching: handler)
        return source
    }
}

/// A timer or a watch on an event loop.
///
/// It exists until it fires (a timer), is cancelled, or the loop stops.
///
/// `@unchecked Sendable`: it is created, served and cancelled only on the loop's thread, which ``cancel()``
/// checks.
@safe
package final class LoopSource: @unchecked Sendable {
    private let loop: EventLoop
    private var source: UnsafeMutablePointer<GSource>?

    fileprivate init(_ source: UnsafeMutablePointer<GSource>?, on loop: EventLoop) {
        precondition(loop.inLoop, "create timers and watches on the event loop")
        self.loop = loop
        unsafe self.source = unsafe source
    }

    /// Ends the timer or the watch.
    ///
    /// Its handler does not run again.
    ///
    /// A second call has no effect.
    package func cancel() {
        precondition(loop.inLoop, "cancel timers and watches on the event loop")
        guard let source = unsafe source else { return }
        unsafe self.source = nil
        loop.sources?[ObjectIdentifier(self)] = nil
        unsafe g_source_destroy(source)
        unsafe g_source_unref(source)
    }

    fileprivate func start(once body: @escaping () -> Void) {
        unsafe attach(
            Handler { [self] _ in
                cancel()
                body()
            }
        ) { data in
            if let data = unsafe data { unsafe Handler.from(data).body([]) }
            return gboolean(0)
        }
    }

    fileprivate func start(watching body: @escaping (FileDescriptorEvents) -> Void) {
        let callback: GUnixFDSourceFunc = { _, condition, data in
            if let data = unsafe data {
                unsafe Handler.from(data).body(FileDescriptorEvents(rawValue: condition.rawValue))
            }
            return gboolean(1)
        }
        // GLib's convention: the callback of a source has the type that the kind of source requires, and is
        // passed by cast.
        unsafe attach(Handler(body), unsafeBitCast(callback, to: GSourceFunc.self))
    }

    private func attach(_ handler: Handler, _ callback: @escaping GSourceFunc) {
        guard let source = unsafe source else { return }
        // A stopped loop would never serve the source.
        guard loop.sources != nil else { return cancel() }
        loop.sources?[ObjectIdentifier(self)] = self
        unsafe g_source_set_callback(source, callback, Unmanaged.passRetained(handler).toOpaque()) { data in
            if let data = unsafe data { unsafe Unmanaged<Handler>.fromOpaque(data).release() }
        }
        // Without this, GLib removes the source from the poll set while its callback runs and adds it again
        // afterwards. That costs two system calls per message. The loop never runs within a callback, so
        // nothing recurses.
        unsafe g_source_set_can_recurse(source, gboolean(1))
        unsafe g_source_attach(source, loop.context)
    }

    private final class Handler {
        let body: (FileDescriptorEvents) -> Void

        init(_ body: @escaping (FileDescriptorEvents) -> Void) {
            self.body = body
        }

        static func from(_ data: UnsafeMutableRawPointer) -> Handler {
            unsafe Unmanaged<Handler>.fromOpaque(data).takeUnretainedValue()
        }
    }
}

extension Duration {
    /// The milliseconds, rounded up and limited to the range of GLib's timers and libdbus.
    var wholeMilliseconds: UInt32 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < Int64(Int32.max) / 1000 else { return UInt32(Int32.max) }
        let perMillisecond: Int64 = 1_000_000_000_000_000
        return UInt32(seconds * 1000 + (attoseconds + perMillisecond - 1) / perMillisecond)
    }
}
