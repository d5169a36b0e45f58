import type { Schemas } from '../lib/api';

// The fields that a file may have, out of the interface's own description, which is loaded when a file is chosen.

interface Schema {
	$ref?: string;
	type?: string | string[];
	properties?: Record<string, Schema>;
	required?: string[];
	items?: Schema;
	description?: string;
	enum?: unknown[];
	additionalProperties?: Schema | boolean;
	anyOf?: Schema[];
	oneOf?: Schema[];
	format?: string;
}
interface Document {
	paths: Record<string, { post?: { requestBody?: { content: Record<string, { schema: Schema }> } } }>;
	components: { schemas: Record<string, Schema> };
}

/** A column that an import reads. */
export interface ImportField {
	name: string; // nested members with dots
	about: string;
	required: boolean;
}

let document: Promise<Document> | undefined;

async function described(headers: Record<string, string>): Promise<Document> {
	const response = await fetch('/v1/openapi.json', { headers });
	if (!response.ok) throw new Error(response.statusText);
	return (await response.json()) as Document;
}

/** The fields of a kind of records, in the order of its description. */
export async function fieldsOf(kind: string, headers: Record<string, string>): Promise<ImportField[]> {
	document ??= described(headers);
	document.catch(() => (document = undefined));
	const doc = await document;
	const resolve = (s: Schema): Schema => {
		const one = s.anyOf?.[0] ?? s.oneOf?.[0] ?? s;
		const name = one.$ref?.split('/').pop();
		return name ? (doc.components.schemas[name] ?? {}) : one;
	};
	const body = doc.paths[`/v1/${kind}`]?.post?.requestBody?.content['application/json']?.schema;
	const found: ImportField[] = [];
	const walk = (schema: Schema, before: string, needed: boolean, depth: number) => {
		for (const [name, member] of Object.entries(schema.properties ?? {})) {
			const of = resolve(member);
			const path = before + name;
			const required = needed && (schema.required ?? []).includes(name);
			if (of.properties && depth < 3) walk(of, `${path}.`, required, depth + 1);
			else if (of.items && depth < 2) {
				const item = resolve(of.items);
				if (item.properties) walk(item, `${path}.0.`, false, depth + 2);
				else found.push({ name: `${path}.0`, about: member.description ?? '', required: false });
			} else if (!of.additionalProperties && !of.items) {
				const about = [member.description ?? of.description ?? '', of.enum?.length ? of.enum.filter((v) => v !== null).join(', ') : '', examples[of.format ?? ''] ?? of.format ?? ''].filter((t) => t).join(' · ');
				found.push({ name: path, about, required });
			}
		}
	};
	if (body) walk(resolve(body), '', true, 0);
	return found;
}

const bare = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '');

// What people call some fields in their own files.
const alike: Record<string, string[]> = {
	license_plate: ['plate', 'kennzeichen', 'matricula', 'registration'], vin: ['fin', 'chassis'], make: ['marke', 'marca', 'brand'], model: ['modell', 'modelo'],
	year: ['baujahr', 'ano'], first_name: ['vorname', 'nombre', 'givenname'], last_name: ['nachname', 'apellidos', 'surname', 'familyname'], email: ['emailaddress', 'mail', 'correo'],
	phone: ['telephone', 'telefon', 'telefono', 'mobile'], 'amount.amount': ['amount', 'betrag', 'importe'], 'amount.currency': ['currency', 'wahrung', 'moneda'], incurred_on: ['date', 'datum', 'fecha'],
	'address.city': ['city', 'ort', 'ciudad'], 'address.postal_code': ['zip', 'plz', 'postalcode'], 'address.line1': ['street', 'strasse', 'calle', 'address'], plate: ['licenseplate', 'kennzeichen', 'matricula'],
};

/** The field that a column most likely is, '' if none. */
export function guess(column: string, fields: ImportField[]): string {
	const name = bare(column);
	if (!name) return '';
	return (fields.find((f) => bare(f.name) === name) ?? fields.find((f) => alike[f.name]?.includes(name)) ?? fields.find((f) => bare(f.name.split('.').pop() ?? '') === name))?.name ?? '';
}

/** How values of a form are written. */
const examples: Record<string, string> = { 'date-time': '2026-12-31T10:00:00Z', date: '2026-12-31' };

export type RowIssue = Schemas['RowIssue'];
