import type { Map } from 'maplibre-gl';
import type { Doing } from '../lib/fleet.svelte';

// The marks of vehicles: what one does can be told by its shape as well as by its colour.

export const colorOf: Record<Doing, string> = {
	moving: '#0b7a4b', idling: '#b45f00', stale: '#8a5a00', parked: '#2b5fb3', offline: '#6b6f6d', nowhere: '#6b6f6d',
};

/** What happened on a day: each kind has a shape and a colour of its own, on the map and beside the time. */
export type Happening = 'stop' | 'visit' | 'alert' | 'driving';

/** Where something happened on the day that is played back. */
export interface DayMark {
	is: Happening;
	place: [number, number]; // longitude first
}

const size = 30; // px

function draw(paint: (c: CanvasRenderingContext2D) => void): ImageData {
	const canvas = document.createElement('canvas');
	const scale = 2;
	canvas.width = canvas.height = size * scale;
	const c = canvas.getContext('2d', { willReadFrequently: true }); // drawn without the graphics card, which would have to give it back
	if (!c) throw new Error('this browser draws nothing');
	c.scale(scale, scale);
	c.translate(size / 2, size / 2);
	c.lineWidth = 2;
	c.strokeStyle = '#ffffff';
	paint(c);
	return c.getImageData(0, 0, canvas.width, canvas.height);
}

function disc(c: CanvasRenderingContext2D, radius: number, color: string) {
	c.beginPath();
	c.arc(0, 0, radius, 0, 2 * Math.PI);
	c.fillStyle = color;
	c.fill();
	c.stroke();
}

/** A shape with straight sides. */
function shape(c: CanvasRenderingContext2D, corners: [number, number][], color: string) {
	c.beginPath();
	corners.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
	c.closePath();
	c.fillStyle = color;
	c.fill();
	c.stroke();
}

const paint: Record<Exclude<Doing, 'nowhere'> | Happening, (c: CanvasRenderingContext2D) => void> = {
	moving(c) {
		shape(c, [[0, -12], [9, 11], [0, 6], [-9, 11]], colorOf.moving); // it points north, and is turned to where the vehicle goes
	},
	idling(c) {
		disc(c, 9, colorOf.idling);
		c.fillStyle = '#ffffff';
		c.fillRect(-4, -4, 3, 8);
		c.fillRect(1, -4, 3, 8);
	},
	stale(c) {
		disc(c, 9, '#ffffff');
		c.beginPath();
		c.arc(0, 0, 7.5, 0, 2 * Math.PI);
		c.setLineDash([4, 3]);
		c.strokeStyle = colorOf.stale;
		c.lineWidth = 3;
		c.stroke();
	},
	parked(c) {
		disc(c, 8, colorOf.parked);
	},
	offline(c) {
		disc(c, 8, '#ffffff');
		c.beginPath();
		c.arc(0, 0, 6.5, 0, 2 * Math.PI);
		c.strokeStyle = colorOf.offline;
		c.lineWidth = 3;
		c.stroke();
	},
	stop(c) {
		shape(c, [[-6, -6], [6, -6], [6, 6], [-6, 6]], '#3d4a45');
	},
	visit(c) {
		shape(c, [[0, -8], [8, 0], [0, 8], [-8, 0]], '#0b6b50');
	},
	alert(c) {
		shape(c, [[0, -8], [9, 7], [-9, 7]], '#c81e14');
	},
	driving(c) {
		disc(c, 6, '#b45f00');
	},
};

/** Gives a map the marks, if it does not have them. */
export function addMarks(map: Map) {
	for (const [name, how] of Object.entries(paint)) {
		if (!map.hasImage(name)) map.addImage(name, draw(how), { pixelRatio: 2 });
	}
}
