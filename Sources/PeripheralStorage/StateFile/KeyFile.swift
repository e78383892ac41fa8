internal import CPeripheralGLib
internal import PeripheralKit

/// GLib's key file: groups of keys with text values, the format of desktop and system services.
///
/// Keys and groups keep their order. GLib escapes the characters that a line cannot hold, with one exception.
/// When GLib reads a value, it drops U+000C at the beginning. This type writes that character as `\f`. GLib
/// rejects `\f`, so the sequence has no other meaning.
@safe
struct KeyFile: ~Copyable {
    private let file: OpaquePointer

    init() {
        unsafe file = g_key_file_new()
    }

    /// Parses a key file.
    ///
    /// Returns `nil` if the text is not a key file.
    init?(parsing text: [UInt8]) {
        let file = unsafe g_key_file_new()
        let isRead = unsafe text.withUnsafeBytes { text in
            unsafe g_key_file_load_from_data(
                file,
                text.baseAddress?.assumingMemoryBound(to: gchar.self),
                gsize(text.count),
                peripheral_key_file_flags,
                nil
            )
        }
        guard isRead != 0, let file = unsafe file else {
            unsafe g_key_file_unref(file)
            return nil
        }
        unsafe self.file = file
    }

    deinit {
        unsafe g_key_file_unref(file)
    }

    /// Adds a group with its keys and values, in the order of its entries.
    func add(_ group: RestorationState.Group) {
        // If the strings themselves were passed, Swift would copy the strings.
        unsafe group.name.withCString { name in
            // A temporary key creates the group even if it has no entries.
            unsafe g_key_file_set_value(file, name, "-", "")
            unsafe g_key_file_remove_key(file, name, "-", nil)
            for entry in group.entries {
                unsafe entry.key.withCString { key in
                    unsafe entry.value.withCString { unsafe set($0, for: key, in: name) }
                }
            }
        }
    }

    func set(_ value: String, for key: String, in group: String) {
        unsafe value.withCString { unsafe set($0, for: key, in: group) }
    }

    private func set(
        _ value: UnsafePointer<CChar>,
        for key: UnsafePointer<CChar>,
        in group: UnsafePointer<CChar>
    ) {
        guard unsafe value.pointee == Self.formFeed else {
            return unsafe g_key_file_set_string(file, group, key, value)
        }
        unsafe g_key_file_set_string(file, group, key, value + 1)
        guard let rest = unsafe g_key_file_get_value(file, group, key, nil) else { return }
        defer { unsafe g_free(rest) }
        unsafe g_key_file_set_value(file, group, key, "\\f" + String(cString: rest))
    }

    private static let formFeed: CChar = 0x0C

    /// Returns the value of a key, or `nil` if it is missing or malformed.
    func value(of key: UnsafePointer<CChar>, in group: UnsafePointer<CChar>) -> String? {
        unsafe plainValue(of: key, in: group) ?? valueWithFormFeed(of: key, in: group)
    }

    /// Returns the value if its first character is written as `\f`, otherwise `nil`.
    private func valueWithFormFeed(
        of key: UnsafePointer<CChar>,
        in group: UnsafePointer<CChar>
    ) -> String? {
        guard let text = unsafe g_key_file_get_value(file, group, key, nil) else { return nil }
        defer { unsafe g_free(text) }
        guard unsafe text[0] == 0x5C, unsafe text[1] == 0x66 else { return nil }
        let rest = KeyFile()
        unsafe g_key_file_set_value(rest.file, group, key, text + 2)
        return unsafe rest.plainValue(of: key, in: group).map { "\u{0C}" + $0 }
    }

    /// Returns the value as GLib parses it.
    private func plainValue(of key: UnsafePointer<CChar>, in group: UnsafePointer<CChar>) -> String? {
        var error: UnsafeMutablePointer<GError>?
        let value = unsafe g_key_file_get_string(file, group, key, &error)
        defer {
            unsafe g_free(value)
            unsafe g_clear_error(&error)
        }
        // Besides an error, GLib returns the part of the value that it could parse.
        guard let value = unsafe value, unsafe error == nil else { return nil }
        return unsafe String(validatingCString: value)
    }

    /// The names of all groups, in the order of the file.
    var groups: [String] {
        unsafe Self.take(g_key_file_get_groups(file, nil))
    }

    /// Returns a group's known keys and their values in order, or `nil` for a malformed value.
    func entries(of group: String, where isKnown: (String) -> Bool) -> [RestorationState.Entry]? {
        unsafe group.withCString { group in
            var count: gsize = 0
            guard let keys = unsafe g_key_file_get_keys(file, group, &count, nil) else { return [] }
            defer { unsafe g_strfreev(keys) }
            var entries: [RestorationState.Entry] = []
            entries.reserveCapacity(Int(count))
            for position in 0..<Int(count) {
                guard let name = unsafe keys[position] else { break }
                let key = unsafe String(cString: name)
                guard isKnown(key) else { continue }
                guard let value = unsafe value(of: name, in: group) else { return nil }
                entries.append(.init(key: key, value: value))
            }
            return entries
        }
    }

    /// The text of the file.
    var text: [UInt8] {
        var length: gsize = 0
        guard let text = unsafe g_key_file_to_data(file, &length, nil) else { return [] }
        defer { unsafe g_free(text) }
        return unsafe Array(UnsafeRawBufferPointer(start: text, count: Int(length)))
    }

    private static func take(_ list: UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?) -> [String] {
        guard let list = unsafe list else { return [] }
        defer { unsafe g_strfreev(list) }
        var texts: [String] = []
        var position = unsafe list
        while let text = unsafe position.pointee {
            unsafe texts.append(String(cString: text))
            unsafe position += 1
        }
        return texts
    }
}
