// The interface's own description, as the pages of the reference read it.

export interface Schema {
	$ref?: string;
	type?: string | string[];
	format?: string;
	description?: string;
	properties?: Record<string, Schema>;
	required?: string[];
	items?: Schema;
	enum?: unknown[];
	examples?: unknown[];
	anyOf?: Schema[];
	oneOf?: Schema[];
	additionalProperties?: boolean | Schema;
	minimum?: number;
	maximum?: number;
	minLength?: number;
	maxLength?: number;
	minItems?: number;
	maxItems?: number;
	pattern?: string;
}

export interface Param {
	name: string;
	in: 'path' | 'query' | 'header';
	required?: boolean;
	description?: string;
	schema?: Schema;
}

interface Content {
	schema?: Schema;
	example?: unknown;
	examples?: Record<string, { value: unknown }>;
}

export interface Answer {
	$ref?: string;
	description?: string;
	content?: Record<string, Content>;
}

interface Described {
	operationId: string;
	summary: string;
	description?: string;
	tags: string[];
	parameters?: Param[];
	requestBody?: { required?: boolean; content: Record<string, Content> };
	responses: Record<string, Answer>;
	security?: Record<string, string[]>[];
}

export interface Document {
	info: { title: string; version: string; description: string };
	paths: Record<string, Record<string, Described>>;
	webhooks: Record<string, { post: Described }>;
	components: { schemas: Record<string, Schema>; responses: Record<string, Answer> };
	'x-error-codes': { codes: string; when: string }[];
}

export interface Operation extends Described {
	method: string;
	path: string;
	group: string;
}

export interface Problem {
	code: string;
	status: number;
	when: string;
	example: unknown;
}

export interface Event {
	type: string;
	about: string;
	schema: Schema;
	example: unknown;
}

const schemaPrefix = '#/components/schemas/';

export class Reference {
	readonly operations: Operation[] = [];
	readonly groups: { name: string; operations: Operation[] }[];
	readonly schemas: Record<string, Schema>;
	readonly problems: Problem[];
	readonly events: Event[];

	constructor(readonly document: Document) {
		for (const [path, methods] of Object.entries(document.paths)) {
			for (const [method, described] of Object.entries(methods)) {
				this.operations.push({ ...described, method: method.toUpperCase(), path, group: described.tags[0] ?? '' });
			}
		}
		const names = [...new Set(this.operations.map((operation) => operation.group))].sort((a, b) => a.localeCompare(b));
		this.groups = names.map((name) => ({ name, operations: this.operations.filter((operation) => operation.group === name) }));
		this.schemas = document.components.schemas;
		const problems = document.components.responses['problem']?.content?.['application/problem+json']?.examples ?? {};
		this.problems = Object.entries(problems).map(([code, { value }]) => {
			const shown = value as { status: number; detail: string };
			return { code, status: shown.status, when: shown.detail, example: value };
		});
		this.problems.sort((a, b) => a.status - b.status || a.code.localeCompare(b.code));
		this.events = Object.entries(document.webhooks).map(([type, { post }]) => {
			const content = post.requestBody?.content['application/json'];
			return { type, about: post.description ?? '', schema: content?.schema ?? {}, example: content?.example };
		});
	}

	/** What a schema says, where it only names another. */
	resolved(schema: Schema | undefined): Schema {
		if (!schema) return {};
		const { $ref, ...own } = schema;
		return $ref ? { ...this.resolved(this.schemas[$ref.slice(schemaPrefix.length)]), ...own } : schema;
	}

	/** The answer of an operation that succeeds: its status, media types, and what it has. */
	success(operation: Operation): { status: string; types: string[]; schema: Schema | undefined } {
		const status = Object.keys(operation.responses).find((code) => code.startsWith('2')) ?? '200';
		const content = operation.responses[status]?.content ?? {};
		return { status, types: Object.keys(content), schema: Object.values(content).find((of) => of.schema)?.schema };
	}

	/** The body that an operation takes as JSON or as a form, or as whatever else it is. */
	body(operation: Operation): { type: string; types: string[]; schema: Schema | undefined; example: unknown; required: boolean } | undefined {
		const body = operation.requestBody;
		const types = Object.keys(body?.content ?? {});
		const type = types.find((t) => t.includes('json')) ?? types[0];
		if (!body || !type) return undefined;
		const of = body.content[type];
		return { type, types, schema: of?.schema, example: of?.example, required: body.required ?? false };
	}

	/** The problems that an operation may answer beside those that any may. */
	problemsOf(operation: Operation): Problem[] {
		const statuses = Object.keys(operation.responses).filter((status) => /^[45]/.test(status)).map(Number);
		return this.problems.filter((problem) => statuses.includes(problem.status));
	}

	/** An id as records at a path have it: that of the record which the path before the id lists or answers. */
	exampleID(path: string, name: string): string {
		const before = path.slice(0, path.indexOf(`{${name}}`) + name.length + 2);
		const one = this.operations.find((operation) => operation.method === 'GET' && operation.path === before);
		const example = one && this.resolved(this.resolved(this.success(one).schema).properties?.['id']).examples?.[0];
		return typeof example === 'string' ? example : name.toUpperCase();
	}

	/** The operations that send or answer what has a schema, itself or in a list. */
	uses(name: string): Operation[] {
		const at = JSON.stringify(`${schemaPrefix}${name}`);
		return this.operations.filter((operation) => JSON.stringify([operation.requestBody, operation.responses]).includes(at));
	}
}

/** The name of the schema that one refers to. */
export function named(schema: Schema | undefined): string {
	return schema?.$ref?.startsWith(schemaPrefix) ? schema.$ref.slice(schemaPrefix.length) : '';
}

let loaded: Promise<Reference> | undefined;

/** The reference, loaded once. */
export function reference(): Promise<Reference> {
	return (loaded ??= fetch('/v1/openapi.json').then(async (response) => {
		if (!response.ok) {
			loaded = undefined;
			throw new Error(`${response.status} ${response.statusText}`);
		}
		return new Reference((await response.json()) as Document);
	}));
}
