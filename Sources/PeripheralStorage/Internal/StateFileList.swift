internal import PeripheralKit

/// The state files of a directory.
struct StateFileList {
    let directory: TrustedDirectory

    /// The identifiers of those that can be loaded, as far as their beginnings tell.
    func identifiers() throws(RestorationError) -> [String] {
        try directory.names().compactMap { name in
            guard name.hasSuffix(StateFileName.suffix), let identifier = identifier(inFile: name),
                StateFileName(identifier: identifier).state == name
            else { return nil }
            return identifier
        }
    }

    private func identifier(inFile name: String) -> String? {
        do throws(RestorationError) {
            guard let file = try directory.open(name), file.size <= StateFileFormat.maximumSize else {
                return nil
            }
            return StateFileFormat.identifier(
                atStartOf: try directory.read(file, limit: StateFileFormat.maximumHeaderLength)
            )
        } catch {
            return nil
        }
    }
}
