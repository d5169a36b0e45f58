import { outlines } from 'guide:all';
import type { Reference } from './document';

export interface Found {
	kind: 'guide' | 'operation' | 'schema' | 'problem' | 'event';
	title: string;
	about: string;
	href: string;
	text: string; // in small letters, what is searched beside the title
}

/** Everything that has an address of its own. */
export function entries(reference: Reference): Found[] {
	const all: Found[] = [];
	const add = (kind: Found['kind'], title: string, about: string, href: string, text = '') => all.push({ kind, title, about, href, text: `${title} ${about} ${text}`.toLowerCase() });
	for (const guide of outlines) {
		add('guide', guide.title, '', `/docs/guides/${guide.name}`);
		for (const part of guide.parts) add('guide', part.title, guide.title, `/docs/guides/${guide.name}#${part.at}`);
	}
	for (const operation of reference.operations) {
		add('operation', operation.summary, `${operation.method} ${operation.path}`, `/docs/operations/${operation.operationId}`, `${operation.operationId} ${operation.description ?? ''}`);
	}
	for (const problem of reference.problems) add('problem', problem.code, `${problem.status} · ${problem.when}`, `/docs/problems/${problem.code}`);
	for (const event of reference.events) add('event', event.type, '', `/docs/events/${event.type}`);
	for (const [name, schema] of Object.entries(reference.schemas)) add('schema', name, '', `/docs/schemas/${name}`, Object.keys(schema.properties ?? {}).join(' '));
	return all;
}

/** What has all the words, best first: those whose title they are, has them, then the others; guides and operations before what they speak of. */
export function find(all: Found[], words: string): Found[] {
	const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
	if (!wanted.length) return [];
	const phrase = wanted.join(' ');
	const rank = (of: Found) => {
		const title = of.title.toLowerCase();
		if (title === phrase) return 0;
		if (wanted.every((word) => title.includes(word))) return 1;
		return of.about.toLowerCase().includes(phrase) ? 2 : 3;
	};
	return all.filter((of) => wanted.every((word) => of.text.includes(word))).map((of) => ({ of, at: rank(of) })).sort((a, b) => a.at - b.at).map(({ of }) => of);
}
