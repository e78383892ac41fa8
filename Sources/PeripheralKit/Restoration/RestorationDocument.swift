/// What is preserved of a peripheral, as a ``RestorationStore`` keeps it: named groups of keys and values, in order.
///
/// A store keeps a document as it is, and knows nothing of its meaning.
///
/// Names of groups and keys consist of ASCII letters, digits and hyphens, at least one; values are any text without
/// U+0000. A store refuses to save anything else.
public struct RestorationDocument: Hashable, Sendable {
    /// The newest version of documents that this version of the package can make sense of; it makes sense of all before.
    ///
    /// A document of a newer version is kept for a program that is built with that: ``RestorationRecord/setAside(forVersion:)``.
    public static let newestVersion = 1

    /// The groups, in the order in which they were added; no two have the same name.
    public private(set) var groups: [Group] = []

    private var positions: [String: Int] = [:]

    /// Makes a document without groups.
    public init() {}

    /// The group of a name, or `nil` where there is none.
    ///
    /// A new group goes to the end; one that is there already is replaced where it is. A group whose name is another one
    /// than the subscript's is kept by the subscript's. `nil` removes the group.
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

    /// Adds a group, or replaces the one of the same name where it is.
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

    /// Compares the groups, in their order.
    public static func == (left: RestorationDocument, right: RestorationDocument) -> Bool {
        left.groups == right.groups
    }

    /// Hashes the groups.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(groups)
    }
}

extension RestorationDocument {
    /// A key with its value.
    public struct Entry: Hashable, Sendable {
        /// The key.
        public let key: String

        /// The value.
        public var value: String

        /// Makes an entry.
        public init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }

    /// A named list of keys with their values.
    public struct Group: Hashable, Sendable {
        /// The name.
        public fileprivate(set) var name: String

        /// The entries, in the order in which their keys were first set; no two have the same key.
        public private(set) var entries: [Entry] = []

        private var positions: [String: Int] = [:]

        /// Makes a group; of entries with the same key, the last counts.
        public init(_ name: String, entries: [Entry] = []) {
            self.name = name
            reserveCapacity(entries.count)
            for entry in entries { self[entry.key] = entry.value }
        }

        /// The value of a key, or `nil` where there is none.
        ///
        /// A new key goes to the end; a value that is there already is replaced where it is. `nil` removes the key.
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

        /// Makes room for entries that are about to be added.
        public mutating func reserveCapacity(_ count: Int) {
            entries.reserveCapacity(count)
            positions.reserveCapacity(count)
        }

        /// Reads what is found or inserted by looking for it once.
        private static func read(_ position: inout Int) -> Int { position }

        private mutating func remove(_ key: String) {
            guard let removed = positions.removeValue(forKey: key) else { return }
            entries.remove(at: removed)
            for position in removed..<entries.count {
                positions[entries[position].key] = position
            }
        }

        /// Compares the name and the entries, in their order.
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
