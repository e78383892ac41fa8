@testable import PeripheralKit
@testable import PeripheralStorage

extension Entrance {
    private static let identifier = "com.example.lamp"

    /// The text of a state file: what another program, or a failing disk, has left.
    ///
    /// The first byte is a letter: `r` for a text as it is, `s` for one whose checksum is then made right,
    /// `d` for a document that is saved first, `k` for a key file alone, `n` for the names of files.
    static let stateFiles = Entrance(name: "state-files") { bytes in
        var feed = Feed(bytes)
        switch feed.byte() {
        case UInt8(ascii: "r"): examine(text: feed.remaining())
        case UInt8(ascii: "s"): examine(text: StateFileFormat.seal(feed.remaining()[...]))
        case UInt8(ascii: "d"): examine(documentOf: &feed)
        case UInt8(ascii: "k"):
            guard let file = KeyFile(parsing: feed.remaining()) else { return }
            for group in file.groups { _ = file.entries(of: group) { _ in true } }
            // GLib writes what it has read so that it reads it again.
            check(KeyFile(parsing: file.text) != nil)
        case UInt8(ascii: "n"): examine(nameOf: feed.text(), name: feed.text())
        default: return
        }
    }

    /// Each kind of file in the directory has its own form of name.
    ///
    /// A state with an allowed identifier can be saved.
    private static func examine(nameOf identifier: String, name: String) {
        let file = StateFileName(identifier: identifier)
        for number in [1, 999_999_999] { check(file.numberSetAside(file.setAside(number)) == number) }
        if let number = file.numberSetAside(name) { check(name == file.setAside(number)) }
        if let number = file.numberSetAside(String(file.setAside(1).dropLast()) + name) { check(number > 0) }
        let names = [
            file.state, file.lock, file.state(ofVersion: StateFileFormat.version), file.setAside(1),
        ]
        check(Set(names).count == names.count)
        check(names.allSatisfy { $0.utf8.count < 120 && !$0.contains("/") && !$0.hasPrefix(".") })
        check(names.count(where: file.isState) == 2 && names.count(where: StateFileName.isState) == 2)
        if file.isState(name) { check(StateFileName.isState(name) && !file.isTemporary(name)) }
        check(!names.contains(where: file.isTemporary) && file.isTemporary(file.state + ".ABC123"))
        guard (try? RestorationRules.check(identifier: identifier)) != nil else { return }
        guard let text = try? StateFileFormat.text(of: RestorationState(), identifier: identifier) else {
            return check(false, "\(identifier) cannot be saved")
        }
        check(StateFileFormat.identifier(atStartOf: text) == identifier)
    }

    /// A text is a document or refused by an error of ours; what is read is written, and read again as the
    /// same.
    private static func examine(text: [UInt8]) {
        _ = StateFileFormat.identifier(atStartOf: text)
        _ = StateFileFormat.version(atStartOf: text)
        let restorationState: RestorationState
        do throws(RestorationError) {
            restorationState = try StateFileFormat.restorationState(in: text, of: identifier)
        } catch {
            let known: [RestorationError.Code] = [.damaged, .foreign, .newerVersion, .tooLarge]
            check(known.contains(error.code), "\(error)")
            return
        }
        let values = restorationState.groups.flatMap(\.entries).map(\.value)
        plantedFault(Array(values.joined().utf8), count: 6, mask: 0x10)
        examine(restorationState)
    }

    private static func examine(_ restorationState: RestorationState) {
        examineParts(of: restorationState)
        do throws(RestorationError) {
            let text = try StateFileFormat.text(of: restorationState, identifier: identifier)
            let again = try StateFileFormat.restorationState(in: text, of: identifier)
            check(again == restorationState, "\(restorationState) becomes \(again)")
            check(StateFileFormat.identifier(atStartOf: text) == identifier)
            check(StateFileFormat.version(atStartOf: text) == StateFileFormat.version)
            check(try StateFileFormat.text(of: again, identifier: identifier) == text)
        } catch {
            // A document that was read may be longer when it is written, never refused otherwise.
            check(error.code == .tooLarge, "\(error)")
        }
    }

    /// Each group and each entry is found by its name, also when others are gone.
    private static func examineParts(of restorationState: RestorationState) {
        var rest = restorationState
        for group in restorationState.groups {
            check(rest[group.name] == group)
            var entries = group
            for entry in group.entries {
                check(entries[entry.key] == entry.value)
                entries[entry.key] = nil
            }
            check(entries.entries.isEmpty)
            rest[group.name] = nil
        }
        check(rest.groups.isEmpty)
    }

    /// A document that follows the rules is saved, and no other.
    private static func examine(documentOf feed: inout Feed) {
        var restorationState = RestorationState()
        while !feed.isAtEnd {
            var group = RestorationState.Group(feed.text())
            for _ in 0..<feed.byte() % 8 { group[feed.text()] = feed.text() }
            restorationState.append(group)
        }
        guard (try? RestorationRules.check(restorationState)) != nil else {
            check((try? StateFileFormat.text(of: restorationState, identifier: identifier)) == nil)
            return
        }
        examine(restorationState)
    }
}
