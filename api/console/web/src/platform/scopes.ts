import { settings } from '../lib/settings.svelte';

// What a credential may do, as the interface names it; those of one subject stand together.
export const scopes = [
	['vehicles:read', 'vehicles:write'], ['bookings:read', 'bookings:write', 'bookings:override'], ['customers:read', 'customers:write', 'customers.pii:read'],
	['maintenance:read', 'maintenance:write'], ['finance:read', 'finance:write', 'reports:read'], ['telematics:read', 'telematics:write', 'devices:command'],
	['webhooks:manage', 'users:manage', 'oauth:manage', 'keys:manage'], ['admin'],
];

// What each of them is, in English as the page on which somebody lets a program in says it.
const words: Record<string, readonly [en: string, de: string, es: string]> = {
	'vehicles:read': ['See vehicles, their classes and locations', 'Fahrzeuge, ihre Klassen und Standorte sehen', 'Ver vehículos, sus clases y sedes'],
	'vehicles:write': ['Add and change vehicles, their classes and locations', 'Fahrzeuge, ihre Klassen und Standorte anlegen und ändern', 'Añadir y cambiar vehículos, sus clases y sedes'],
	'bookings:read': ['See bookings, quotes and prices', 'Buchungen, Angebote und Preise sehen', 'Ver reservas, presupuestos y precios'],
	'bookings:write': ['Make, change and cancel bookings', 'Buchungen anlegen, ändern und stornieren', 'Hacer, cambiar y cancelar reservas'],
	'bookings:override': ['Override rules of bookings', 'Sich über Regeln von Buchungen hinwegsetzen', 'Saltarse reglas de reservas'],
	'customers:read': ['See customers, without their personal details', 'Kunden sehen, ohne persönliche Angaben', 'Ver clientes, sin sus datos personales'],
	'customers:write': ['Add and change customers', 'Kunden anlegen und ändern', 'Añadir y cambiar clientes'],
	'customers.pii:read': ['See personal details of customers: birthdays, licences, documents', 'Persönliche Angaben von Kunden sehen: Geburtstage, Führerscheine, Dokumente', 'Ver datos personales de clientes: nacimiento, permisos de conducir, documentos'],
	'maintenance:read': ['See maintenance, work orders and inspections', 'Wartung, Werkstattaufträge und Inspektionen sehen', 'Ver mantenimiento, órdenes de trabajo e inspecciones'],
	'maintenance:write': ['Plan and change maintenance, work orders and inspections', 'Wartung, Werkstattaufträge und Inspektionen planen und ändern', 'Planear y cambiar mantenimiento, órdenes de trabajo e inspecciones'],
	'finance:read': ['See payments, invoices, expenses and the ledger', 'Zahlungen, Rechnungen, Ausgaben und Buchungssätze sehen', 'Ver pagos, facturas, gastos y asientos'],
	'finance:write': ['Take and refund payments, issue invoices, and post expenses', 'Zahlungen annehmen und erstatten, Rechnungen ausstellen, Ausgaben buchen', 'Cobrar y reembolsar pagos, emitir facturas y contabilizar gastos'],
	'reports:read': ['Make and see reports', 'Berichte erstellen und sehen', 'Hacer y ver informes'],
	'telematics:read': ['See where vehicles are and were, trips and alerts', 'Sehen, wo Fahrzeuge sind und waren, Fahrten und Alarme', 'Ver dónde están y estuvieron los vehículos, viajes y alertas'],
	'telematics:write': ['Send positions, and change trackers, geofences and alert rules', 'Positionen senden; Tracker, Zonen und Regeln ändern', 'Enviar posiciones; cambiar rastreadores, zonas y reglas'],
	'devices:command': ['Send commands to trackers, such as to stop an engine', 'Trackern Befehle senden, etwa einen Motor abzustellen', 'Enviar órdenes a rastreadores, como parar un motor'],
	'webhooks:manage': ['Have events sent to other systems', 'Ereignisse an andere Systeme senden lassen', 'Hacer que se envíen eventos a otros sistemas'],
	'users:manage': ['Add, change and remove people of the account', 'Personen des Kontos hinzufügen, ändern und entfernen', 'Añadir, cambiar y quitar personas de la cuenta'],
	'oauth:manage': ['Manage applications that reach the account', 'Programme verwalten, die das Konto erreichen', 'Gestionar los programas que llegan a la cuenta'],
	'keys:manage': ['Make and revoke API keys', 'API-Schlüssel erstellen und widerrufen', 'Crear y revocar claves de API'],
	'admin': ['Do everything in the account', 'Alles im Konto tun', 'Hacer todo en la cuenta'],
};

/** What a scope lets its holder do, for people. */
export function scopeWords(scope: string): string {
	return words[scope]?.[{ en: 0, de: 1, es: 2 }[settings.language]] ?? '';
}
