internal import PeripheralCore
internal import PeripheralKit

/// Tracks a link after frames went unseen, until the link was seen to work and then to be empty.
///
/// After a gap, a link that is empty looks like one that does not work. So missing updates count as completed
/// after a while, but no more than ``mostUnproven`` until the link has shown that it works. That bounds how
/// many more updates than usual are in flight, however often frames go unseen. Beyond the bound, one update
/// at a time is released after ``longestPatience``, so that nothing waits forever.
struct FrameLossRecovery {
    /// The largest number of updates that may count as completed without having been seen.
    static let mostUnproven = 16
    /// The number of successive looks that show that a link is empty.
    private static let quietLooks = 2
    /// The number of looks showing a working link after which everything missing before is completed.
    private static let completingLooks = 20
    /// The number of looks without any sign of the link until some updates count as completed; it doubles
    /// each time.
    private static let (shortestPatience, longestPatience) = (4, 160)
    /// Up to this patience, looks are made in haste.
    private static let hastyPatience = 16

    /// The longest connection interval, in hasty looks.
    private static let longestPause = 160

    /// The conclusion from a look.
    enum Verdict: Equatable {
        case wait
        /// This many of the missing updates count as completed.
        case release(Int)
        /// The oldest update counts as completed, and the central no longer sets the pace of others.
        case releaseOfDeserted
        /// All updates are completed, and the recovery is over.
        case resolved
    }

    let central: Central.ID
    /// The number of updates that count as completed and may be in flight.
    private var unproven = 0
    /// The number of missing updates that are certainly completed.
    private var completions = 0
    private var hasSeenAny = false
    /// Whether the link has been seen to work since something went unseen.
    private(set) var works = false
    private var looks = (quiet: 0, silent: 0, completing: 0)
    private var patience = shortestPatience
    /// The most successive looks without anything carried, between two looks with something carried.
    private var longestPause = 0
    private var pause = 0

    init(of central: Central.ID) {
        self.central = central
    }

    var isUrgent: Bool { patience <= Self.hastyPatience }

    /// Records that something went unseen again.
    mutating func missed() {
        (works, looks.quiet) = (false, 0)
    }

    /// Records that bluetoothd is given more.
    mutating func given() {
        looks.quiet = 0
    }

    /// Records that an update was seen to be completed.
    ///
    /// It is unknown which update that was: it is taken for the oldest that may be in flight.
    mutating func completed() {
        if unproven > 0 { unproven -= 1 } else { completions += 1 }
        (works, hasSeenAny) = (true, true)
        looks.quiet = 0
    }

    /// Records a look.
    ///
    /// - Parameters:
    ///   - isBusy: Whether there is anything on the link; `nil` when it may wait for others.
    ///   - hasCompleted: Whether the link has carried something since the last look.
    ///   - missing: How many updates are not completed.
    /// - Returns: The conclusion.
    mutating func looked(isBusy: Bool?, hasCompleted: Bool, missing: Int) -> Verdict {
        if let isBusy { looks.quiet = isBusy ? 0 : looks.quiet + 1 }
        if hasCompleted {
            works = true
            looks.completing += 1
            patience = Self.shortestPatience
            (longestPause, pause) = (max(longestPause, pause), 0)
        } else {
            pause = missing > 0 ? min(pause + 1, Self.longestPause) : 0
        }
        if let isBusy { looks.silent = isBusy || hasCompleted ? 0 : looks.silent + 1 }
        // A slow link seems empty between two packets, some of which went unseen.
        if works, unproven == 0, looks.quiet >= max(Self.quietLooks, longestPause + 2) { return .resolved }
        if looks.completing >= Self.completingLooks { return judgeWorkingLink(missing) }
        guard looks.silent >= patience, missing > 0 else { return .wait }
        let isLongest = patience == Self.longestPatience
        (looks.silent, patience) = (0, min(patience * 2, Self.longestPatience))
        let released = min(missing, Self.mostUnproven - unproven)
        guard released > 0 else { return isLongest ? .releaseOfDeserted : .wait }
        return release(released)
    }

    /// Judges a link that works, but never runs empty.
    private mutating func judgeWorkingLink(_ missing: Int) -> Verdict {
        // Updates that were assumed in flight would have come first.
        if !hasSeenAny { unproven = 0 }
        let released = min(missing, hasSeenAny ? completions : Self.mostUnproven)
        (looks.completing, hasSeenAny) = (0, false)
        return released > 0 ? release(released) : .wait
    }

    private mutating func release(_ count: Int) -> Verdict {
        let proven = min(count, completions)
        completions -= proven
        unproven += count - proven
        return .release(count)
    }
}
