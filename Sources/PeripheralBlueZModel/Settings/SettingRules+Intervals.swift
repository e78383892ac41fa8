// The rules about the intervals of advertisements and connections.

extension SettingRules {
    var advertisingInterval: SettingIssue? {
        guard settings.appliesIntervals != true else { return nil }
        let range = IntervalRange(
            .minimumInterval,
            .maximumInterval,
            standard: 2048...2048,
            unit: 625,
            in: settings
        )
        // A second, in units of 0.625 ms.
        guard !range.isPossible || range.longest > 1600 else { return nil }
        let condition = range.isPossible && range.isChosen ? "Unless slow advertising is intended" : nil
        return issue(
            range.isPossible ? .note : .warning,
            "setting-advertising-interval",
            range.isPossible
                ? "The kernel sends an advertisement without an interval of its own every \(range.description), so a "
                    + "phone can need many seconds to find the peripheral."
                : "The interval of advertisements would be \(range.description).",
            reason: range.ignoredLines
                + (range.isPossible
                    ? "A phone scans only a part of the time."
                    : "The controller refuses this range, so no advertisement goes on the air."),
            remedy:
                "For 100 to 152.5 ms, set 'MinAdvertisementInterval = 160' and "
                + "'MaxAdvertisementInterval = 244' in [LE].",
            changes: [
                SettingChange(.minimumInterval, "160", condition: condition),
                SettingChange(.maximumInterval, "244", condition: condition),
            ]
        )
    }

    var connectionInterval: SettingIssue? {
        let range = IntervalRange(
            .minimumConnectionInterval,
            .maximumConnectionInterval,
            standard: 24...40,
            unit: 1250,
            in: settings
        )
        // 15 ms, in units of 1.25 ms. Phones use this interval for fast connections.
        guard !range.isPossible || range.shortest > 12 else { return nil }
        let condition = range.isPossible && range.isChosen ? "Unless slow connections are intended" : nil
        return issue(
            .note,
            "setting-connection-interval",
            "The kernel asks each central for a connection interval of \(range.description)"
                + (range.isPossible ? ", which slows down phones." : "."),
            reason: range.ignoredLines
                + (range.isPossible
                    ? "The connection of a phone with a shorter interval, such as 15 ms, becomes slower."
                    : "No central can accept this range."),
            remedy:
                "To let each central keep its interval, set 'MinConnectionInterval = 6' and "
                + "'MaxConnectionInterval = 3200' in [LE].",
            changes: [
                SettingChange(.minimumConnectionInterval, "6", condition: condition),
                SettingChange(.maximumConnectionInterval, "3200", condition: condition),
            ]
        )
    }
}
