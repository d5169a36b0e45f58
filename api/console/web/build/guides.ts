import { readFileSync } from 'node:fs';
import { basename, dirname, relative, resolve } from 'node:path';
import { lexer, type Token, type Tokens } from 'marked';
import type { Plugin } from 'vite';
import type { Guide, Piece } from '../src/docs/prose';

// Guides are the texts of docs/*.md and of the folders beside them, as they are read in the repository. They are taken
// apart while the console is built, so that a page needs neither a reader of Markdown nor HTML that it trusts.

const root = resolve(import.meta.dirname, '../../../..');

/** The guides by the name in their address, in the order in which they are read. */
export const guides: Record<string, string> = {
	'first-day': 'docs/tour.md',
	devices: 'docs/data.md',
	traccar: 'deploy/traccar/README.md',
	webhooks: 'docs/webhooks.md',
	events: 'docs/events.md',
	bi: 'docs/bi/README.md',
	reports: 'docs/reports.md',
	papers: 'docs/papers.md',
	people: 'docs/users.md',
	oauth: 'docs/oauth.md',
	operations: 'docs/operations.md',
};

/** The name of a heading in an address, as code hosts make it. */
const slug = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-');

/** Where a link of a file leads: to another guide, or outside; nothing if to a file of the repository. */
function leads(href: string, from: string): string | undefined {
	if (/^(https?:|#|\/)/.test(href)) return href;
	const [path = '', at] = href.split('#');
	const file = relative(root, resolve(root, dirname(from), path));
	const name = Object.keys(guides).find((guide) => guides[guide] === file || guides[guide] === `${file}/README.md`);
	return name && `/docs/guides/${name}${at ? `#${at}` : ''}`;
}

function read(name: string, file: string): Guide {
	const pieces = (tokens: Token[] = []): Piece[] => tokens.flatMap((token): Piece[] => {
		const t = token as Tokens.Generic;
		const within = () => pieces(t.tokens);
		switch (t.type) {
			case 'space':
			case 'def':
				return [];
			case 'text':
				return t.tokens ? within() : [t['text']];
			case 'escape':
				return [t['text']];
			case 'heading':
				return [{ is: `h${t['depth']}`, at: slug(t['text'].replace(/[`*]/g, '')), in: within() }];
			case 'paragraph':
				return [{ is: 'p', in: within() }];
			case 'strong':
			case 'em':
			case 'del':
			case 'blockquote':
				return [{ is: t.type, in: within() }];
			case 'br':
			case 'hr':
				return [{ is: t.type, in: [] }];
			case 'codespan':
				return [{ is: 'code', in: [t['text']] }];
			case 'code':
				return [{ is: 'pre', in: [{ is: 'code', in: [t['text']] }] }];
			case 'list':
				return [{ is: t['ordered'] ? 'ol' : 'ul', in: t['items'].map((item: Tokens.ListItem) => ({ is: 'li', in: pieces(item.tokens) })) }];
			case 'link': {
				const to = leads(t['href'], file);
				return to ? [{ is: 'a', to, in: within() }] : within();
			}
			case 'table': {
				const row = (cells: Tokens.TableCell[], is: string) => ({ is: 'tr', in: cells.map((cell) => ({ is, in: pieces(cell.tokens) })) });
				// A table without a head has one that is empty: Markdown knows none without.
				const head = t['header'].some((cell: Tokens.TableCell) => cell.text) ? [{ is: 'thead', in: [row(t['header'], 'th')] }] : [];
				return [{ is: 'table', in: [...head, { is: 'tbody', in: t['rows'].map((cells: Tokens.TableCell[]) => row(cells, 'td')) }] }];
			}
		}
		throw new Error(`${file} has ${t.type}, which no page can show: ${t.raw}`);
	});
	const [first, ...text] = pieces(lexer(readFileSync(resolve(root, file), 'utf8')));
	if (typeof first !== 'object' || first.is !== 'h1') throw new Error(`${file} does not begin with its title`);
	return { name, title: words([first]), text };
}

function words(pieces: Piece[]): string {
	return pieces.map((piece) => (typeof piece === 'string' ? piece : words(piece.in))).join('');
}

/** What of a guide a search finds: its title and headings. */
const outline = ({ name, title, text }: Guide) => ({
	name, title, parts: text.flatMap((piece) => (typeof piece === 'object' && piece.at ? [{ at: piece.at, title: words([piece]) }] : [])),
});

/** Makes a module of each guide, guide:NAME, and one of what all are about, guide:all. */
export function guidesPlugin(): Plugin {
	return {
		name: 'guides',
		resolveId: (id) => (id.startsWith('guide:') ? `\0${id}` : undefined),
		load(id) {
			const name = id.startsWith('\0guide:') ? basename(id.slice('\0guide:'.length)) : '';
			const file = guides[name];
			if (name === 'all') {
				for (const of of Object.values(guides)) this.addWatchFile(resolve(root, of));
				const load = Object.keys(guides).map((guide) => `${JSON.stringify(guide)}: () => import('guide:${guide}')`);
				return `export const outlines = ${JSON.stringify(Object.entries(guides).map(([of, at]) => outline(read(of, at))))};\nexport const load = {${load.join(',')}};`;
			}
			if (!file) return undefined;
			this.addWatchFile(resolve(root, file));
			return `export default ${JSON.stringify(read(name, file))};`;
		},
	};
}
