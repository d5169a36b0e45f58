// Comma-separated values, as RFC 4180 and spreadsheets write them.

/** The rows of a text, with the separator that its first line has most of. */
export function rowsOf(text: string): string[][] {
	const head = text.slice(0, text.indexOf('\n') + 1 || text.length);
	const separator = [',', ';', '\t'].reduce((best, s) => (head.split(s).length > head.split(best).length ? s : best), ',');
	const rows: string[][] = [];
	let row: string[] = [];
	let cell = '';
	let quoted = false;
	const endRow = () => {
		row.push(cell);
		if (row.length > 1 || row[0] !== '') rows.push(row);
		row = [];
		cell = '';
	};
	const clean = text.replace(/^\uFEFF/, '');
	for (let i = 0; i < clean.length; i++) {
		const c = clean[i];
		if (quoted) {
			if (c !== '"') cell += c;
			else if (clean[i + 1] === '"') {
				cell += '"';
				i++;
			} else quoted = false;
		} else if (c === '"' && cell === '') quoted = true;
		else if (c === separator) {
			row.push(cell);
			cell = '';
		} else if (c === '\n' || c === '\r') {
			if (c === '\r' && clean[i + 1] === '\n') i++;
			endRow();
		} else cell += c;
	}
	if (cell !== '' || row.length) endRow();
	return rows;
}

/** Rows as a text that any reader of CSV takes. */
export function csvOf(rows: string[][]): string {
	return rows.map((row) => row.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')).join('\r\n') + '\r\n';
}
