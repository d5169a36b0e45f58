import { catalogue, filled, languages, type Language, type Text } from './texts';

// What a person chose for this browser. Nothing of it is secret.

const imperialRegions = ['US', 'GB', 'LR', 'MM'];

function read<T extends string>(name: string, of: readonly T[], otherwise: T): T {
	const said = localStorage.getItem(`motorpool.${name}`);
	return of.find((value) => value === said) ?? otherwise;
}

function ownLanguage(): Language {
	const known = Object.keys(languages) as Language[];
	for (const tag of navigator.languages) {
		const found = known.find((language) => tag.toLowerCase().startsWith(language));
		if (found) return found;
	}
	return 'en';
}

class Settings {
	language = $state<Language>(read('language', Object.keys(languages) as Language[], ownLanguage()));
	units = $state<'metric' | 'imperial'>(
		read(
			'units',
			['metric', 'imperial'] as const,
			imperialRegions.includes(new Intl.Locale(navigator.language).maximize().region ?? '') ? 'imperial' : 'metric',
		),
	);
	zone = $state(Intl.DateTimeFormat().resolvedOptions().timeZone); // the account's, once it is known

	choose(name: 'language' | 'units', value: string) {
		localStorage.setItem(`motorpool.${name}`, value);
		if (name === 'language') this.language = value as Language;
		else this.units = value as 'metric' | 'imperial';
	}
}

export const settings = new Settings();

/** The words for something, in the language that was chosen, with values. */
export function say(text: Text, values: Record<string, string | number> = {}): string {
	return filled(catalogue[settings.language][text], values);
}
