// What a guide is made of once it was taken apart (see build/guides.ts).

export type Piece = string | { is: string; in: Piece[]; at?: string; to?: string };

export interface Guide {
	name: string;
	title: string;
	text: Piece[];
}

export interface Outline {
	name: string;
	title: string;
	parts: { at: string; title: string }[];
}

/** Takes a text apart that is Markdown with `code` and paragraphs alone, as those of the interface's description are. */
export function prose(text: string): Piece[] {
	return text.split(/\n\n+/).filter(Boolean).map((paragraph) => ({
		is: 'p', in: inline(paragraph),
	}));
}

export function inline(text: string): Piece[] {
	return text.split('`').map((piece, i) => (i % 2 ? { is: 'code', in: [piece] } : piece));
}
