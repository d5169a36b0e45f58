import { dayText, decimal, distance, isDay, money, moneyOf, percent } from './format';
import { memberName } from './members';
import { settings } from './settings.svelte';
import { stateWords } from './states';
import { filled } from './texts';
import { phrases, sentences, type Sentences } from './texts.sentences';

// Sentences that the interface composes in English, in the language that was chosen. One that texts.sentences.ts does not know as a whole
// stays as it is.

type Told = string | undefined; // undefined for what is not known
type Seen = Map<string, Told>; // the sentences of a text, so that none is looked for twice

/** What a gap takes, as a regular expression, and how people read that. */
interface Gap {
	takes: string;
	read: (text: string, seen: Seen) => Told;
}

const day = '(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?\\d{4}-\\d\\d-\\d\\d';

/** A day, with a clock and its zone if there are any: the place's own, which is not shifted. */
function when(text: string): Told {
	const [, weekday, date = '', clock] = /^(\w{3} )?([\d-]{10})(.*)$/.exec(text) ?? [];
	if (!isDay(date)) return undefined;
	const name = weekday && new Intl.DateTimeFormat(settings.language, { weekday: 'short', timeZone: 'UTC' }).format(new Date(date));
	return `${name ? `${name} ` : ''}${dayText(date)}${clock ? `,${clock}` : ''}`;
}

/** Phrases that stand side by side, if each of them is known. */
function each(texts: string[], together: (all: string[]) => string, seen: Seen): Told {
	const all = texts.map((text) => known(text, ofPhrases, seen));
	return all.every((one) => one !== undefined) ? together(all) : undefined;
}

const gaps: Record<string, Gap> = {
	n: { takes: '-?\\d{1,15}', read: (text) => decimal(parseInt(text)) },
	p: { takes: '\\d{1,15}(?:\\.\\d{1,4})? %', read: (text) => percent(parseFloat(text), /\.(\d+)/.exec(text)?.[1]?.length ?? 0) },
	m: { takes: '[A-Z]{3} -?\\d{1,16}(?:\\.\\d{1,4})?', read: (text) => money(moneyOf(text.slice(4), text.slice(0, 3))) },
	o: { takes: '\\d{1,15}', read: (text) => distance(Number(text)) },
	d: { takes: day, read: when },
	t: { takes: `${day} \\d\\d:\\d\\d(?: (?:[A-Z]{2,5}|[+-]\\d{2,4}))?`, read: when },
	e: { takes: '[a-z_]+', read: (text) => stateWords(text) },
	f: { takes: '[a-z_]+(?:, [a-z_]+)*', read: (text) => text.split(', ').map(memberName).join(', ') },
	x: { takes: '.+?', read: (text) => text },
	w: { takes: '.+?', read: (text, seen) => known(text, ofPhrases, seen) ?? text },
	k: { takes: '.+?', read: (text, seen) => known(text, ofPhrases, seen) },
	l: { takes: '.+?', read: (text, seen) => each(text.split(/, | and /), (all) => new Intl.ListFormat(settings.language).format(all), seen) },
	c: { takes: '.+?', read: (text, seen) => each(text.split('; '), (all) => all.join('; '), seen) },
	s: { takes: '.+', read: sentenceOf },
};

interface Pattern {
	english: RegExp;
	names: string[]; // of its gaps, in their order
	said: Sentences[string];
}

const gap = /\{([a-z]\d*)(?::([^|}]*)\|([^}]*))?\}/g;

/** Those with more words of their own come first, as they say more closely what they are. */
function compiled(all: Sentences): Pattern[] {
	const own = (english: string) => english.replace(gap, '').length;
	return Object.entries(all).sort(([a], [b]) => own(b) - own(a)).map(([english, said]) => {
		const names: string[] = [];
		const source = english.replace(/[.*+?^$()[\]\\]/g, '\\$&').replace(gap, (_, name: string, one?: string, other?: string) => {
			names.push(name);
			const takes = gaps[name[0] ?? '']?.takes ?? '';
			return `(${one === undefined ? takes : `${one}|${other}`.replaceAll('#', () => takes)})`;
		});
		return { english: new RegExp(`^${source}$`, 's'), names, said };
	});
}

const ofSentences = compiled(sentences);
const ofPhrases = compiled(phrases);

/** What one of some patterns says; undefined unless it knows all of a text. */
function known(text: string, patterns: Pattern[], seen: Seen): Told {
	for (const { english, names, said } of patterns) {
		const found = english.exec(text);
		const values: Record<string, string> = {};
		const all = found && names.every((name, i) => {
			const value = gaps[name[0] ?? '']?.read(found[i + 1] ?? '', seen);
			if (value !== undefined) values[name] = value;
			return value !== undefined;
		});
		if (all) return filled(said[settings.language === 'de' ? 0 : 1], values);
	}
	return undefined;
}

const most = 40; // sentences that are looked at for one text

/** A sentence, or several of which each is known. */
function sentenceOf(text: string, seen: Seen): Told {
	if (seen.has(text) || seen.size > most) return seen.get(text);
	let told = known(text, ofSentences, seen);
	for (let end = text.lastIndexOf('. '); told === undefined && end > 0; end = text.lastIndexOf('. ', end - 1)) {
		const last = known(text.slice(end + 2), ofSentences, seen);
		const before = last && sentenceOf(text.slice(0, end + 1), seen);
		if (before) told = `${before} ${last}`;
	}
	seen.set(text, told);
	return told;
}

const longest = 4000; // letters of a text that is looked at

/** A text of the interface as people read it, and its language where that is not the page's. */
export function told(text: string | null | undefined): { text: string; lang?: 'en' } {
	if (!text || settings.language === 'en') return { text: text ?? '' };
	const own = text.length > longest ? undefined : sentenceOf(text, new Map());
	return own === undefined ? { text, lang: 'en' } : { text: own };
}
