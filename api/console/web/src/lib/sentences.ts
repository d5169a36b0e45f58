import { dayText, decimal, distance, isDay, money, moneyOf, percent } from './format';
import { memberName } from './members';
import { settings } from './settings.svelte';
import { stateWords } from './states';
import { filled, type Language } from './texts';
import { phrases, sentences, type Sentences } from './texts.sentences';

// Sentences that the interface composes in English, in the language that was chosen, with money and times as the rest of the page writes
// them. One that texts.sentences.ts does not know as a whole stays as it is.

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
	const [, weekday, date = '', clock, zone = ''] = /^(\w{3} )?([\d-]{10})(?: (\d\d:\d\d)(.*))?$/.exec(text) ?? [];
	if (!isDay(date) || (clock && !(Date.parse(`${date}T${clock}Z`) >= 0))) return undefined;
	const own = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(settings.language, { ...options, timeZone: 'UTC' }).format(new Date(`${date}T${clock ?? '00:00'}Z`));
	return [...(weekday ? [own({ weekday: 'short' })] : []), dayText(date), ...(clock ? [own({ timeStyle: 'short' }) + zone] : [])].join(', ');
}

/** Words as they stand within a sentence: English has them in small letters there, unless they are letters of their own, as of an ID. */
function within(words: string): string {
	return settings.language === 'en' ? words.replace(/^[A-Z](?![A-Z])/, (first) => first.toLowerCase()) : words;
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
	e: { takes: '[a-z_]+', read: (text) => within(stateWords(text)) },
	f: { takes: '[a-z_]+(?:, [a-z_]+)*', read: (text) => text.split(', ').map((name) => within(memberName(name))).join(', ') },
	i: { takes: '[a-z]+_\\d+', read: (text) => text },
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
	said: Record<Language, string>;
}

const gap = /\{([a-z]\d*)(?::([^|}]*)\|([^}]*))?\}/g;

/** Those with more words of their own come first, as they say more closely what they are. */
function compiled(all: Sentences): Pattern[] {
	const own = (english: string) => english.replace(gap, '').length;
	return Object.entries(all).sort(([a], [b]) => own(b) - own(a)).map(([english, [de, es, en]]) => {
		const names: string[] = [];
		const source = english.replace(/[.*+?^$()[\]\\]/g, '\\$&').replace(gap, (_, name: string, one?: string, other?: string) => {
			names.push(name);
			const takes = gaps[name[0] ?? '']?.takes ?? '';
			return `(${one === undefined ? takes : `${one}|${other}`.replaceAll('#', () => takes)})`;
		});
		const asItIs = english.replace(/(\{o\d*\}) mi\b/g, '$1'); // the gap has the unit that was chosen
		return { english: new RegExp(`^${source}$`, 's'), names, said: { en: en ?? asItIs, de, es } };
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
		if (all) return filled(said[settings.language], values);
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

const longest = 1200; // letters of a text that is looked at: each gap of any text makes the look longer

/** A text of the interface as people read it, and its language where that is not the page's. Some pages know more: among, as a whole. */
export function told(text: string | null | undefined, among?: Sentences): { text: string; lang?: 'en' } {
	const whole = text ? among?.[text] : undefined;
	if (text && whole) return { text: { en: whole[2] ?? text, de: whole[0], es: whole[1] }[settings.language] };
	const own = !text || text.length > longest ? undefined : sentenceOf(text, new Map());
	if (own !== undefined) return { text: own };
	return { text: text ?? '', ...(text && settings.language !== 'en' ? { lang: 'en' as const } : {}) };
}

// The charges that the interface makes by itself, of which it says in English what the type says too. All others have a name of
// their own: an extra, a tax, a season's.
const ofTypes = ['time', 'mileage', 'late_return', 'one_way', 'young_driver', 'additional_driver', 'refuel', 'recharge', 'cancellation_fee', 'no_show_fee', 'platform_fee', 'discount', 'promo', 'delivery'];
const closer = ['time', 'discount', 'promo']; // of which the description says more than the type

/** What a charge is for. */
export function chargeWords(line: { type?: string; source?: string; description?: string | null }): string {
	const { type = '', source, description } = line;
	if (source !== 'auto' || !ofTypes.includes(type) || !description) return description || stateWords(type);
	const said = closer.includes(type) ? known(description, ofPhrases, new Map()) : undefined;
	return said ?? (settings.language === 'en' ? description : stateWords(type));
}
