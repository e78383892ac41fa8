internal import PeripheralKit

/// The state files of a directory.
struct StateFileList {
    let directory: TrustedDirectory

    /// Returns the identifiers of the files that can be loaded.
    func identifiers() throws(RestorationError) -> [String] {
        // If an older version has run since this one, an identifier has two files. Opening the record
        // restores this version's file.
        var listed: Set<[UInt8]> = []
        return try directory.names().compactMap { name in
            guard StateFileName.isState(name), let identifier = identifier(inFile: name),
                StateFileName(identifier: identifier).isState(name),
                listed.insert(Array(identifier.utf8)).inserted
            else { return nil }
            return identifier
        }
    }

    private func identifier(inFile name: String) -> String? {
        do throws(RestorationError) {
            guard let file = try directory.open(name), file.size <= StateFileFormat.maximumSize else {
                return nil
            }
            let text = try directory.read(file, limit: StateFileFormat.maximumSize)
            guard let identifier = StateFileFormat.identifier(atStartOf: text) else { return nil }
            // A file that is damaged after its beginning is omitted, so that a program can still restore its
            // other peripherals.
            _ = try StateFileFormat.restorationState(in: text, of: identifier)
            return identifier
        } catch {
            return nil
        }
    }
}
