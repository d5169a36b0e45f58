import { answered, api, Failure, type Schemas } from '../lib/api';
import { session } from '../lib/session.svelte';

// Photos and signatures of a handover are files of documents of the customer, so that they are kept, exported and erased with
// them. The inspection and the damage name their addresses.

/** A photo that was taken, and its address once it is kept. */
export interface Photo {
	content: Blob;
	shown: string; // address in this page
	at: string;
}

const longest = 1600; // pixels of a side: a scratch can be seen, and a photo goes through a bad network
const accepted = ['image/jpeg', 'image/png', 'image/webp', 'image/heic'];

/** Makes a photo small, without what the camera wrote about the place; one that this browser cannot read stays as it is. */
export async function photoOf(file: Blob): Promise<Photo> {
	let content = file;
	try {
		const picture = await createImageBitmap(file);
		const scale = Math.min(1, longest / Math.max(picture.width, picture.height));
		const canvas = document.createElement('canvas');
		canvas.width = Math.round(picture.width * scale);
		canvas.height = Math.round(picture.height * scale);
		canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
		picture.close();
		content = (await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/jpeg', 0.85))) ?? file;
	} catch {
		// such as HEIC, which the interface takes all the same
	}
	return { content, shown: canShow(content.type) ? URL.createObjectURL(content) : '', at: '' };
}

/** Keeps a photo as a document of a customer, once, and says at which address. */
export async function keep(photo: Photo, customer: string, kind: Schemas['DocumentFields']['kind'], name: string): Promise<string> {
	if (photo.at) return photo.at;
	const { id } = await answered(api.POST('/v1/customers/{id}/documents', { params: { path: { id: customer } }, body: { kind, name } }));
	const at = `/v1/customers/${customer}/documents/${id}/file`;
	const response = await fetch(at, { method: 'PUT', headers: { ...session.headers(), 'Content-Type': photo.content.type }, body: photo.content });
	if (!response.ok) {
		await api.DELETE('/v1/customers/{id}/documents/{document}', { params: { path: { id: customer, document: id } } });
		throw new Failure(response.status, { title: response.statusText, ...((await response.json().catch(() => ({}))) as object) });
	}
	photo.at = at;
	return at;
}

/** Whether a browser shows a picture of a type. */
export const canShow = (type: string) => accepted.slice(0, 3).includes(type);

/** Whether an address is that of a file which this account has here; others may be anywhere, and are not loaded. */
export const isOurs = (at: string) => /^\/v1\/customers\/cus_\d+\/documents\/doc_\d+\/file$/.test(at);

/** A photo that is kept, for an img: the interface hands files to whoever has a key, which an img does not. */
export async function shownPhoto(at: string): Promise<string> {
	const response = await fetch(at, { headers: session.headers() });
	if (!response.ok) throw new Failure(response.status, { title: response.statusText, ...((await response.json().catch(() => ({}))) as object) });
	const content = await response.blob();
	return accepted.includes(content.type) ? URL.createObjectURL(content) : '';
}
