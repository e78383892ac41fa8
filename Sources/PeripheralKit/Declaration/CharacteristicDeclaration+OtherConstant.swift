extension CharacteristicDeclaration {
    /// Advice for a constant that is not the one in the declaration, for sessions and test centrals.
    package static let remedyForOtherConstant =
        "Use the constant from its declaration: another constant with the same UUID, for example of another type, "
        + "is another characteristic."
}
