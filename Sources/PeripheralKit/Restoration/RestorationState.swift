/// The preserved state of a peripheral as ordered groups of keys and values.
///
/// A ``RestorationStore`` saves a preserved state as a `RestorationState`. A store does not interpret the
/// groups, keys and values.
///
/// The name of a group or key consists of one or more ASCII letters, digits and hyphens. A value is any text
/// without the character U+0000. A store refuses to save a state with an invalid name or value.
public struct RestorationState: Hashable, Sendable {
    /// The newest version of the preserved-state format that this package can read.
    ///
    /// The package can also read all earlier versions of the format. If a saved state uses a newer version of
    /// the format, the store keeps the state. A program that can read the newer version can restore the state
    /// later. See ``RestorationRecord/setAside(forVersion:)``.
    public static let newestVersion = 1

    /// The groups of the state, in the order in which they were added.
    ///
    /// Two groups of a state never have the same name.
    public private(set) var groups: [Group] = []

    private var positions: [String: Int] = [:]

    /// Creates a state without groups.
    public init() {}

    /// The group with the given name, or `nil` if no group has this name.
    ///
    /// A new group is added after the existing groups. If a group with this name exists, the new group
    /// replaces the existing group at the same position. The new group is stored under the given name, even
    /// if the assigned group has a different name. To remove a group, assign `nil`.
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

    /// Adds a group, or replaces the existing group with the same name.
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

    /// Returns whether two states have equal groups in the same order.
    public static func == (left: RestorationState, right: RestorationState) -> Bool {
        left.groups == right.groups
    }

    /// Hashes the groups.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(groups)
    }
}

extension RestorationState {
    /// An entry of a group, with a key and a value.
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

    /// A named list of entries, each with a key and a value.
    public struct Group: Hashable, Sendable {
        /// The name of the group.
        public fileprivate(set) var name: String

        /// The entries of the group, in the order in which their keys were first set.
        ///
        /// Two entries of a group never have the same key.
        public private(set) var entries: [Entry] = []

        private var positions: [String: Int] = [:]

        /// Creates a group.
        ///
        /// If several of the given entries have the same key, the group contains the value of the last entry.
        public init(_ name: String, entries: [Entry] = []) {
            self.name = name
            reserveCapacity(entries.count)
            for entry in entries { self[entry.key] = entry.value }
        }

        /// The value of the given key, or `nil` if the key does not exist.
        ///
        /// A new key is added after the existing keys. If a key exists in the group, the new value replaces
        /// the existing value at the same position. To remove a key, assign `nil`.
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

        /// Reserves space for the given number of entries.
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

        /// Returns whether two groups have the same name and equal entries in the same order.
        public static func == (left: Group, right: Group) -> Bool {
            left.name == right.name && left.entries == right.entries
        }

        /// Hashes the name and the entries of the group.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(entries)
        }
    }
}
