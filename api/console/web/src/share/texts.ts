// The words of the page that a share link opens. It is one that strangers see, so that nothing else comes with it.

const en = {
	title: 'Where it is',
	loading: 'Loading…',
	nothing: 'This link shows nothing: it has lapsed, was revoked, or is not complete. Ask for a new one.',
	failed: 'The server does not answer. This page tries again by itself.',
	notBegun: 'The rental has not begun yet. The place is shown from pickup on.',
	ended: 'The rental has ended. The place is not shown any more.',
	nowhere: 'No place is known yet.',
	seen: 'Seen {t}',
	speed: 'Speed',
	towards: 'towards {c}',
	place: 'Place',
	address: 'Address',
	plate: 'License plate',
	until: 'This link is good until {t}.',
	openIn: 'Open in a map app',
	plan: 'Plan of the place and the way to it',
	points: 'N NE E SE S SW W NW',
	nearTown: '{d} {w} of {p}',
};
type Text = keyof typeof en;

const de: Record<Text, string> = {
	title: 'Wo es ist',
	loading: 'Lädt …',
	nothing: 'Dieser Link zeigt nichts: Er ist abgelaufen, wurde widerrufen oder ist nicht vollständig. Bitten Sie um einen neuen.',
	failed: 'Der Server antwortet nicht. Diese Seite versucht es von selbst wieder.',
	notBegun: 'Die Miete hat noch nicht begonnen. Der Ort wird ab der Abholung gezeigt.',
	ended: 'Die Miete ist zu Ende. Der Ort wird nicht mehr gezeigt.',
	nowhere: 'Noch ist kein Ort bekannt.',
	seen: 'Gesehen {t}',
	speed: 'Tempo',
	towards: 'nach {c}',
	place: 'Ort',
	address: 'Adresse',
	plate: 'Kennzeichen',
	until: 'Dieser Link gilt bis {t}.',
	openIn: 'In einer Karten-App öffnen',
	plan: 'Plan des Orts und des Wegs dorthin',
	points: 'N NO O SO S SW W NW',
	nearTown: '{d} {w} von {p}',
};

const es: Record<Text, string> = {
	title: 'Dónde está',
	loading: 'Cargando…',
	nothing: 'Este enlace no muestra nada: caducó, fue revocado o no está completo. Pida uno nuevo.',
	failed: 'El servidor no responde. Esta página lo intenta de nuevo por sí misma.',
	notBegun: 'El alquiler aún no ha empezado. El lugar se muestra desde la recogida.',
	ended: 'El alquiler ha terminado. El lugar ya no se muestra.',
	nowhere: 'Aún no se conoce ningún lugar.',
	seen: 'Visto {t}',
	speed: 'Velocidad',
	towards: 'hacia el {c}',
	place: 'Lugar',
	address: 'Dirección',
	plate: 'Matrícula',
	until: 'Este enlace vale hasta {t}.',
	openIn: 'Abrir en una app de mapas',
	plan: 'Plano del lugar y del camino hasta él',
	points: 'N NE E SE S SO O NO',
	nearTown: '{d} al {w} de {p}',
};

const all: Record<string, Record<Text, string>> = { en, de, es };
const known = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in all);
export const language = known ?? 'en';

export function say(text: Text, values: Record<string, string> = {}): string {
	return (all[language] ?? en)[text].replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
}
