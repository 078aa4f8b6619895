//! Terminal text, mail text, HTML, charts, exports.
