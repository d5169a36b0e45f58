import type { Language } from './texts';

// What sort of thing the interface refused, by the code of the problem, and what to do about it. The interface itself says in English
// what exactly it is, which stands behind these words; so English needs none.

const problems: Record<Exclude<Language, 'en'>, Record<string, string>> = {
	de: {
		invalid_request: 'Die Anfrage ist nicht zu verstehen.',
		unauthorized: 'Die Anmeldung gilt nicht mehr. Melden Sie sich neu an.',
		insufficient_scope: 'Dazu haben Sie nicht das Recht. Wer das Konto besitzt oder verwaltet, kann es geben.',
		not_found: 'Das gibt es nicht oder nicht mehr.',
		conflict: 'So, wie die Dinge stehen, geht das nicht.',
		invalid_state_transition: 'In diesem Zustand geht das nicht.',
		confirmation_required: 'Das ist ungewöhnlich. Bestätigen Sie es, wenn es stimmt.',
		precondition_failed: 'Jemand anders hat das inzwischen geändert. Laden Sie die Seite neu.',
		payload_too_large: 'Das ist zu groß.',
		unsupported_media_type: 'Eine Datei dieser Art geht hier nicht.',
		validation_failed: 'Eine Eingabe ist so nicht möglich.',
		rate_limited: 'Das waren zu viele Anfragen. Versuchen Sie es gleich noch einmal.',
		unavailable: 'Der Server ist gerade nicht bereit. Versuchen Sie es gleich noch einmal.',
		insufficient_storage: 'Der Speicher des Servers ist voll. Gelesen werden kann weiterhin; der Betreiber muss Platz schaffen.',
	},
	es: {
		invalid_request: 'No se entiende la petición.',
		unauthorized: 'La sesión ya no vale. Vuelva a entrar.',
		insufficient_scope: 'No tiene permiso para esto. Quien posee o dirige la cuenta puede darlo.',
		not_found: 'No existe, o ya no existe.',
		conflict: 'Tal como están las cosas, no es posible.',
		invalid_state_transition: 'En este estado no es posible.',
		confirmation_required: 'Es poco habitual. Confírmelo si es correcto.',
		precondition_failed: 'Alguien lo ha cambiado entretanto. Vuelva a cargar la página.',
		payload_too_large: 'Es demasiado grande.',
		unsupported_media_type: 'Aquí no vale un archivo de este tipo.',
		validation_failed: 'Uno de los datos no es posible así.',
		rate_limited: 'Han sido demasiadas peticiones. Inténtelo de nuevo en un momento.',
		unavailable: 'El servidor no está listo ahora. Inténtelo de nuevo en un momento.',
		insufficient_storage: 'El almacenamiento del servidor está lleno. Se puede seguir leyendo; quien lo administra debe hacer sitio.',
	},
};

/** The words for the code of a problem; none in English, or for one that is not known. */
export function problemWords(language: Language, code: string | undefined): string {
	return language === 'en' || !code ? '' : (problems[language][code] ?? '');
}
