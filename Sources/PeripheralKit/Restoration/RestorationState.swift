/// The preserved state of a peripheral as named groups of keys and values, in order.
///
/// A ``RestorationStore`` saves preserved state in this form. A store does not interpret the contents.
///
/// Names of groups and keys consist of ASCII letters, digits and hyphens, and are not empty. A value is any
/// text without U+0000. A store refuses to save a state that breaks these rules.
public struct RestorationState: Hashable, Sendable {
    /// The newest version of the format that this version of the package can read.
    ///
    /// This version can also read all earlier versions of the format. State of a newer version stays in the
    /// store for a program that can read that version. See ``RestorationRecord/setAside(forVersion:)``.
    public static let newestVersion = 1

    /// The groups, in the order in which they were added.
    ///
    /// No two groups have the same name.
    public private(set) var groups: [Group] = []

    private var positions: [String: Int] = [:]

    /// Creates a state without groups.
    public init() {}

    /// The group with a name; `nil` if there is no such group.
    ///
    /// A new group is added at the end. An existing group is replaced in its position. The group then has the
    /// name in the subscript. Setting `nil` removes the group.
    public subscript(name: String) -> Group? {
        get { positions[name].map { groups[$0] } }
        set {
            guard let newValue else { return remove(name) }
            var group = newValue
            group.name = name
            if let position = positions[name] {
                groups[position] = group
            } else {
                positions[name] = groups.count
                groups.append(group)
            }
        }
    }

    /// Adds a group, or replaces the group of the same name in its position.
    public mutating func append(_ group: Group) {
        self[group.name] = group
    }

    private mutating func remove(_ name: String) {
        guard let removed = positions.removeValue(forKey: name) else { return }
        groups.remove(at: removed)
        for position in removed..<groups.count {
            positions[groups[position].name] = position
        }
    }

    /// Compares the groups and their order.
    public static func == (left: RestorationState, right: RestorationState) -> Bool {
        left.groups == right.groups
    }

    /// Hashes the groups.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(groups)
    }
}

extension RestorationState {
    /// A key with its value.
    public struct Entry: Hashable, Sendable {
        /// The key of the entry.
        public let key: String

        /// The value of the entry.
        public var value: String

        /// Creates an entry from a key and a value.
        public init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }

    /// A named list of keys with their values.
    public struct Group: Hashable, Sendable {
        /// The name of the group.
        public fileprivate(set) var name: String

        /// The entries, in the order in which their keys were first set.
        ///
        /// No two entries have the same key.
        public private(set) var entries: [Entry] = []

        private var positions: [String: Int] = [:]

        /// Creates a group.
        ///
        /// If several entries have the same key, the last of these entries counts.
        public init(_ name: String, entries: [Entry] = []) {
            self.name = name
            reserveCapacity(entries.count)
            for entry in entries { self[entry.key] = entry.value }
        }

        /// The value of a key; `nil` if there is no such key.
        ///
        /// A new key is added at the end. An existing value is replaced in its position. Setting `nil`
        /// removes the key.
        public subscript(key: String) -> String? {
            get { positions[key].map { entries[$0].value } }
            set {
                guard let newValue else { return remove(key) }
                let position = Self.read(&positions[key, default: entries.count])
                if position < entries.count {
                    entries[position].value = newValue
                } else {
                    entries.append(Entry(key: key, value: newValue))
                }
            }
        }

        /// Reserves space for this many entries.
        public mutating func reserveCapacity(_ count: Int) {
            entries.reserveCapacity(count)
            positions.reserveCapacity(count)
        }

        /// Reads the position that a single lookup has found or inserted.
        private static func read(_ position: inout Int) -> Int { position }

        private mutating func remove(_ key: String) {
            guard let removed = positions.removeValue(forKey: key) else { return }
            entries.remove(at: removed)
            for position in removed..<entries.count {
                positions[entries[position].key] = position
            }
        }

        /// Compares the name, the entries and the order of the entries.
        public static func == (left: Group, right: Group) -> Bool {
            left.name == right.name && left.entries == right.entries
        }

        /// Hashes the name and the entries.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(entries)
        }
    }
}
