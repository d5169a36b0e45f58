import type { Language } from './texts';

// What sort of thing the interface refused, by the code of the problem, and what to do about it. The interface itself says in English
// what exactly it is, which stands behind these words; so English needs none.

const de = {
	invalid_request: 'Die Anfrage ist nicht zu verstehen.',
	unauthorized: 'Die Anmeldung gilt nicht mehr. Melden Sie sich neu an.',
	insufficient_scope: 'Dazu haben Sie nicht das Recht. Wer das Konto besitzt oder verwaltet, kann es geben.',
	not_found: 'Das gibt es nicht oder nicht mehr.',
	conflict: 'So, wie die Dinge stehen, geht das nicht.',
	invalid_state_transition: 'In diesem Zustand geht das nicht.',
	confirmation_required: 'Das ist ungewöhnlich. Bestätigen Sie es, wenn es stimmt.',
	precondition_failed: 'Es ist inzwischen geändert worden. Laden Sie die Seite neu.',
	payload_too_large: 'Das ist zu groß.',
	unsupported_media_type: 'Eine Datei dieser Art geht hier nicht.',
	validation_failed: 'Eine Eingabe ist so nicht möglich.',
	rate_limited: 'Das waren zu viele Anfragen. Versuchen Sie es gleich noch einmal.',
	unavailable: 'Der Server ist gerade nicht bereit. Versuchen Sie es gleich noch einmal.',
	address_not_allowed: 'Von dieser Adresse aus gilt der Schlüssel nicht.',
	method_not_allowed: 'Das nimmt der Server hier nicht an. Laden Sie die Seite neu.',
	not_acceptable: 'In dieser Form gibt es das nicht.',
	request_timeout: 'Die Daten kamen zu langsam an. Versuchen Sie es noch einmal.',
	request_in_progress: 'Das ist schon unterwegs. Warten Sie einen Augenblick.',
	idempotency_key_reused: 'Das wurde schon einmal anders gesendet. Laden Sie die Seite neu und sehen Sie nach.',
	question_too_large: 'Das ist zu viel auf einmal. Fragen Sie nach weniger.',
	internal_error: 'Auf dem Server ist etwas schiefgegangen.',
	insufficient_storage: 'Der Speicher des Servers ist voll. Gelesen werden kann weiterhin; der Betreiber muss Platz schaffen.',
};

const es: Record<keyof typeof de, string> = {
	invalid_request: 'No se entiende la petición.',
	unauthorized: 'La sesión ya no vale. Vuelva a iniciar sesión.',
	insufficient_scope: 'No tiene permiso para esto. Quien posee o dirige la cuenta puede darlo.',
	not_found: 'No existe, o ya no existe.',
	conflict: 'Tal como están las cosas, no es posible.',
	invalid_state_transition: 'En este estado no es posible.',
	confirmation_required: 'Es poco habitual. Confírmelo si es correcto.',
	precondition_failed: 'Ha cambiado entretanto. Vuelva a cargar la página.',
	payload_too_large: 'Es demasiado grande.',
	unsupported_media_type: 'Aquí no vale un archivo de este tipo.',
	validation_failed: 'Uno de los datos no es válido.',
	rate_limited: 'Han sido demasiadas peticiones. Inténtelo de nuevo en un momento.',
	unavailable: 'El servidor no está listo ahora. Inténtelo de nuevo en un momento.',
	address_not_allowed: 'La clave no vale desde esta dirección.',
	method_not_allowed: 'El servidor no acepta esto aquí. Vuelva a cargar la página.',
	not_acceptable: 'En esta forma no existe.',
	request_timeout: 'Los datos llegaron demasiado despacio. Inténtelo de nuevo.',
	request_in_progress: 'Ya está en camino. Espere un momento.',
	idempotency_key_reused: 'Ya se envió antes de otra manera. Vuelva a cargar la página y compruébelo.',
	question_too_large: 'Es demasiado de una vez. Pregunte por menos.',
	internal_error: 'Algo ha fallado en el servidor.',
	insufficient_storage: 'El almacenamiento del servidor está lleno. Se puede seguir leyendo; quien lo administra debe hacer sitio.',
};

const problems: Record<Exclude<Language, 'en'>, Record<string, string>> = { de, es };

/** The words for the code of a problem; none in English, or for one that is not known. */
export function problemWords(language: Language, code: string | undefined): string {
	return language === 'en' || !code ? '' : (problems[language][code] ?? '');
}
