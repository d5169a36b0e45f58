import type { Operation, Reference } from './document';

// Samples of how an operation is called, made of the interface's description. They are whole programs that need nothing
// beyond what the language brings, and take the key from the environment.

export interface Call {
	method: string;
	url: string;
	headers: Record<string, string>; // without who calls
	who: 'key' | 'client' | 'nobody';
	body?: { type: string; value: unknown } | undefined; // a value that is no text is JSON; undefined is a file
	answer: 'json' | 'lines' | 'file' | 'nothing';
	file: string; // what it is saved as
}

export interface Filled {
	values: Record<string, string>; // by the place and name of parameters: path.id
	body?: string | undefined;
}

/** The values that an operation is called with where nobody gave others: what it cannot do without. */
export function filled(reference: Reference, operation: Operation): Filled {
	const values: Record<string, string> = {};
	for (const param of operation.parameters ?? []) {
		if (param.in === 'path') values[`path.${param.name}`] = reference.exampleID(operation.path, param.name);
		else if (param.required) values[`${param.in}.${param.name}`] = String(param.schema?.examples?.[0] ?? param.schema?.enum?.[0] ?? exampleOf(param.name, param.schema?.format, param.schema?.minimum));
	}
	const body = reference.body(operation);
	return { values, body: body?.example === undefined ? undefined : JSON.stringify(body.example, null, 2) };
}

function exampleOf(name: string, format?: string, minimum?: number): string {
	const late = /until|return|to$/.test(name);
	if (format === 'date') return late ? '2026-07-31' : '2026-07-01';
	if (format === 'date-time') return late ? '2026-07-04T10:00:00Z' : '2026-07-01T10:00:00Z';
	if (name === 'vehicle_id') return 'veh_1234';
	return minimum === undefined ? 'text' : String(minimum);
}

/** The request of an operation with values for its parameters. */
export function callOf(reference: Reference, operation: Operation, { values, body }: Filled, origin: string): Call {
	const value = (place: string, name: string) => values[`${place}.${name}`] ?? '';
	const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(value('path', name)));
	const query = new URLSearchParams();
	const headers: Record<string, string> = {};
	for (const param of operation.parameters ?? []) {
		const given = value(param.in, param.name);
		if (given && param.in === 'query') query.set(param.name, given);
		if (given && param.in === 'header') headers[param.name] = given;
	}
	const schemes = (operation.security ?? []).flatMap((scheme) => Object.keys(scheme));
	const takes = reference.body(operation);
	const { status, types } = reference.success(operation);
	const text = query.toString();
	const json = types.find((type) => type.includes('json')) ?? '';
	return {
		method: operation.method, url: `${origin}${path}${text ? `?${text}` : ''}`, headers,
		who: schemes.includes('api_key') ? 'key' : schemes.includes('oauth_client') ? 'client' : 'nobody',
		body: takes && (takes.required || body) ? { type: takes.type, value: body === undefined ? undefined : parsed(body) } : undefined,
		answer: types.includes('text/event-stream') ? 'lines' : json ? 'json' : types.length === 0 || status === '204' ? 'nothing' : 'file',
		file: `answer.${/pdf|csv|html|yaml|xml|png|jpeg/.exec(types[0] ?? '')?.[0] ?? 'bin'}`,
	};
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return text; // as it stands: whoever writes it is not done yet
	}
}

const json = (value: unknown) => JSON.stringify(value, null, 2);
const indented = (text: string, by: string) => text.replace(/\n/g, `\n${by}`);
const isForm = (call: Call) => call.body?.type === 'application/x-www-form-urlencoded';
const fileOf = (call: Call) => `FILE.${{ 'text/csv': 'csv', 'application/x-ndjson': 'jsonl' }[call.body?.type ?? ''] ?? (call.body?.type ?? '').split('/')[1]}`;

function formOf(value: unknown): string {
	const members = typeof value === 'object' && value ? Object.entries(value) : [];
	return new URLSearchParams(members.map(([name, of]) => [name, String(of)])).toString();
}

/** A text in a shell, which takes nothing in single quotes for anything else. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

export function curl(call: Call): string {
	const lines = [`curl -s${call.answer === 'lines' ? 'N' : ''} ${quoted(call.url)}`];
	if (call.method !== 'GET') lines[0] += ` -X ${call.method}`;
	if (call.who === 'key') lines.push(`-H "Authorization: Bearer $MOTORPOOL_KEY"`);
	if (call.who === 'client') lines.push(`-u "$CLIENT_ID:$CLIENT_SECRET"`);
	for (const [name, value] of Object.entries(call.headers)) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
	if (call.body) {
		lines.push(`-H 'Content-Type: ${call.body.type}'`);
		if (call.body.value === undefined) lines.push(`--data-binary @${fileOf(call)}`);
		else lines.push(`-d ${quoted(isForm(call) ? formOf(call.body.value) : textOf(call.body.value))}`);
	}
	if (call.answer === 'file') lines.push(`-o ${call.file}`);
	return lines.join(' \\\n  ');
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : json(value));

/** A value as a program in Python writes it. */
function python(value: unknown, by = ''): string {
	const deeper = `${by}    `;
	if (value === null || value === undefined) return 'None';
	if (value === true) return 'True';
	if (value === false) return 'False';
	if (Array.isArray(value)) return value.length ? `[\n${value.map((of) => `${deeper}${python(of, deeper)},\n`).join('')}${by}]` : '[]';
	if (typeof value === 'object') {
		const members = Object.entries(value);
		return members.length ? `{\n${members.map(([name, of]) => `${deeper}${JSON.stringify(name)}: ${python(of, deeper)},\n`).join('')}${by}}` : '{}';
	}
	return JSON.stringify(value);
}

export function pythonOf(call: Call): string {
	const used = new Set(['urllib.request']);
	const headers = Object.entries(call.headers).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
	if (call.who === 'key') {
		used.add('os');
		headers.push(`"Authorization": "Bearer " + os.environ["MOTORPOOL_KEY"]`);
	}
	let before = '';
	if (call.who === 'client') {
		used.add('os').add('base64');
		before = 'client = os.environ["CLIENT_ID"] + ":" + os.environ["CLIENT_SECRET"]\n';
		headers.push(`"Authorization": "Basic " + base64.b64encode(client.encode()).decode()`);
	}
	let data = '';
	if (call.body) {
		headers.push(`"Content-Type": ${JSON.stringify(call.body.type)}`);
		if (call.body.value === undefined) data = `open(${JSON.stringify(fileOf(call))}, "rb").read()`;
		else if (isForm(call)) {
			used.add('urllib.parse');
			data = `urllib.parse.urlencode(${python(call.body.value, '    ')}).encode()`;
		} else {
			used.add('json');
			data = `json.dumps(${python(call.body.value, '    ')}).encode()`;
		}
	}
	let then = '    print(response.status)';
	if (call.answer === 'json') {
		used.add('json');
		then = '    print(json.load(response))';
	}
	if (call.answer === 'lines') then = '    for line in response:\n        print(line.decode(), end="")';
	if (call.answer === 'file') then = `    open(${JSON.stringify(call.file)}, "wb").write(response.read())`;
	return `${[...used].sort().map((name) => `import ${name}`).join('\n')}

${before}request = urllib.request.Request(
    ${JSON.stringify(call.url)},
    method="${call.method}",
    headers={${headers.length ? `\n${headers.map((line) => `        ${line},\n`).join('')}    ` : ''}},
${data ? `    data=${data},\n` : ''})
with urllib.request.urlopen(request) as response:
${then}
`;
}

export function typescriptOf(call: Call): string {
	const headers = Object.entries(call.headers).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
	if (call.who === 'key') headers.push('Authorization: `Bearer ${process.env.MOTORPOOL_KEY}`');
	if (call.who === 'client') headers.push('Authorization: `Basic ${btoa(`${process.env.CLIENT_ID}:${process.env.CLIENT_SECRET}`)}`');
	let body = '';
	let first = '';
	if (call.body) {
		headers.push(`'Content-Type': '${call.body.type}'`);
		if (call.body.value === undefined) {
			first = "import { readFile } from 'node:fs/promises';\n\n";
			body = `await readFile('${fileOf(call)}')`;
		} else if (isForm(call)) body = `new URLSearchParams(${indented(json(call.body.value), '  ')})`;
		else body = `JSON.stringify(${indented(json(call.body.value), '  ')})`;
	}
	let then = 'console.log(response.status);';
	if (call.answer === 'json') then = 'console.log(await response.json());';
	if (call.answer === 'lines') then = 'for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) process.stdout.write(piece);';
	if (call.answer === 'file') {
		first = `import { ${call.body && call.body.value === undefined ? 'readFile, ' : ''}writeFile } from 'node:fs/promises';\n\n`;
		then = `await writeFile('${call.file}', new Uint8Array(await response.arrayBuffer()));`;
	}
	return `${first}const response = await fetch(${JSON.stringify(call.url)}, {
  method: '${call.method}',
${headers.length ? `  headers: {\n${headers.map((line) => `    ${line},\n`).join('')}  },\n` : ''}${body ? `  body: ${body},\n` : ''}});
if (!response.ok) throw new Error(\`\${response.status} \${await response.text()}\`);
${then}
`;
}

/** A text as a program in Go writes it. */
const goText = (text: string) => (text.includes('`') || text.includes('\r') ? JSON.stringify(text) : `\`${text}\``);

export function goOf(call: Call): string {
	const used = new Set(['log', 'net/http', 'io', 'os']);
	let body = 'nil';
	let before = '';
	if (call.body?.value !== undefined) {
		used.add('strings');
		before = `	body := strings.NewReader(${goText(isForm(call) ? formOf(call.body.value) : textOf(call.body.value))})\n`;
		body = 'body';
	} else if (call.body) {
		before = `	body, err := os.Open("${fileOf(call)}")\n	if err != nil {\n		log.Fatal(err)\n	}\n`;
		body = 'body';
	}
	const set = Object.entries(call.headers).map(([name, value]) => `	req.Header.Set(${JSON.stringify(name)}, ${JSON.stringify(value)})\n`);
	if (call.who === 'key') set.push('	req.Header.Set("Authorization", "Bearer "+os.Getenv("MOTORPOOL_KEY"))\n');
	if (call.who === 'client') set.push('	req.SetBasicAuth(os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"))\n');
	if (call.body) set.push(`	req.Header.Set("Content-Type", "${call.body.type}")\n`);
	let to = 'os.Stdout';
	let file = '';
	if (call.answer === 'file') {
		to = 'file';
		file = `	file, err := os.Create("${call.file}")\n	if err != nil {\n		log.Fatal(err)\n	}\n	defer file.Close()\n`;
	}
	return `package main

import (
${[...used].sort().map((name) => `	"${name}"`).join('\n')}
)

func main() {
${before}	req, err := http.NewRequest("${call.method}", ${JSON.stringify(call.url)}, ${body})
	if err != nil {
		log.Fatal(err)
	}
${set.join('')}	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		answer, _ := io.ReadAll(resp.Body)
		log.Fatalf("%s: %s", resp.Status, answer)
	}
${file}	if _, err := io.Copy(${to}, resp.Body); err != nil {
		log.Fatal(err)
	}
}
`;
}

export const languages = { curl: { name: 'curl', of: curl }, go: { name: 'Go', of: goOf }, typescript: { name: 'TypeScript', of: typescriptOf }, python: { name: 'Python', of: pythonOf } } as const;
export type Language = keyof typeof languages;
