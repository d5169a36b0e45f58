// Sentences that the interface composes in English, and how they are said in German and Spanish, and in English where people are to read
// other words than the interface has. api/console/sentences_test.go holds them against the sources of the interface.
//
// What stands in braces is a gap: a letter, and a number where a sentence has several of them. n is a number ({n:# day|# days} with
// the words for one and for any other), p a percentage, m money, o miles of an odometer, d a day, t a time, e a word of states.ts, f names of
// members, i an id that nobody is to read, x what somebody wrote or named, s sentences that are known too. Of the phrases below, w is one or else what somebody wrote,
// k is one, l is a list of them, and c is several with semicolons between.

export type Sentences = Record<string, readonly [de: string, es: string, en?: string]>;

export const phrases: Sentences = {
	// prices
	'{d}': ['{d}', '{d}'],
	'{d} to {d2}': ['{d} bis {d2}', '{d} a {d2}'],
	'{m}': ['{m}', '{m}'],
	'{m} ({n:# day|# days})': ['{m} ({n:# Tag|# Tage})', '{m} ({n:# día|# días})'],
	'{n} x {n2:# day|# days} at {m}': ['{n} × {n2:# Tag|# Tage} zu {m}', '{n} × {n2:# día|# días} a {m}', '{n} × {n2:# day|# days} at {m}'],
	'Monday': ['Montag', 'lunes'],
	'Tuesday': ['Dienstag', 'martes'],
	'Wednesday': ['Mittwoch', 'miércoles'],
	'Thursday': ['Donnerstag', 'jueves'],
	'Friday': ['Freitag', 'viernes'],
	'Saturday': ['Samstag', 'sábado'],
	'Sunday': ['Sonntag', 'domingo'],
	'holiday': ['Feiertag', 'festivo'],
	'vehicle': ['Fahrzeug', 'vehículo'],
	'vehicle class': ['Fahrzeugklasse', 'clase de vehículo'],
	'each local date that is touched': ['jeder angefangene Kalendertag vor Ort', 'cada fecha local que se toca'],
	'24 hours by the clock, begun ones too': ['je 24 Stunden nach der Uhr, auch angefangene', 'cada 24 horas de reloj, también las empezadas'],
	'24 hours by the clock, with {n} minutes of grace': ['je 24 Stunden nach der Uhr, mit {n:# Minute|# Minuten} Kulanz', 'cada 24 horas de reloj, con {n:# minuto|# minutos} de cortesía'],
	'{n:# day|# days} or more': ['Ab {n:# Tag|# Tagen}', 'Desde {n:# día|# días}'],
	'Booked {n:# day|# days} ahead, {n2} or more': ['{n:# Tag|# Tage} im Voraus gebucht, ab {n2}', 'Reservado con {n:# día|# días} de antelación, desde {n2}'],
	'With the code': ['Mit dem Code', 'Con el código'],
	'Agreed with the customer': ['Mit dem Kunden vereinbart', 'Acordado con el cliente'],
	'hold': ['Reservierung', 'retención'],
	'charge': ['Einzug', 'cobro'],
	'tank': ['Tankfüllung', 'depósito de combustible'],
	'battery': ['Batterie', 'batería'],
	'Rental time': ['Miete', 'Alquiler'],
	'Rental time, {x}': ['Miete, {x}', 'Alquiler, {x}'],
	'Rental time, {l} {p}': ['Miete, {l} {p}', 'Alquiler, {l} {p}'],
	'Rental time, {w}, {l} {p}': ['Miete, {w}, {l} {p}', 'Alquiler, {w}, {l} {p}'],
	'Discount for a long rental': ['Rabatt für lange Miete', 'Descuento por alquiler largo'],
	'Discount for booking early': ['Rabatt für frühes Buchen', 'Descuento por reserva anticipada'],
	'Promotion {x}': ['Aktion {x}', 'Promoción {x}'],
	'Discount of the customer': ['Rabatt des Kunden', 'Descuento del cliente'],
	'Miles beyond those included': ['Mehrmeilen', 'Millas por encima de las incluidas'],
	'Young driver': ['Junger Fahrer', 'Conductor joven'],
	'Additional drivers': ['Weitere Fahrer', 'Conductores adicionales'],
	'Return at another location': ['Rückgabe anderswo', 'Devolución en otro lugar'],
	'Returned at another location than agreed': ['Anderswo zurückgegeben als vereinbart', 'Devuelto en un lugar distinto del acordado'],
	'Delivery': ['Zustellung', 'Entrega'],
	'What the channel keeps': ['Anteil des Kanals', 'Comisión del canal'],
	'Refuelling': ['Tanken', 'Repostaje'],
	'Recharging': ['Laden', 'Recarga'],
	'Late return': ['Späte Rückgabe', 'Devolución tardía'],
	'Cancellation': ['Stornierung', 'Cancelación'],
	'No-show': ['Nicht erschienen', 'No se presentó'],
	// what was corrected of a handover
	'{k} of {x} at {k2} {w} instead of {w2}': ['{k} von {x}, {k2}: {w} statt {w2}', '{k} de {x}, {k2}: {w} en vez de {w2}'],
	'odometer': ['Kilometerstand', 'cuentakilómetros'],
	'fuel': ['Tankstand', 'combustible'],
	'inspection': ['Prüfung', 'inspección'],
	'location': ['Ort', 'lugar'],
	'time': ['Zeit', 'hora'],
	'pickup': ['Abholung', 'recogida'],
	'return': ['Rückgabe', 'devolución'],
	'swap': ['Tausch', 'sustitución'],
	'the swap': ['Tausch', 'sustitución'],
	'none': ['keine Angabe', 'ninguno'],
	'{o} mi': ['{o}', '{o}'],
	'{p}': ['{p}', '{p}'],
	'{t}': ['{t}', '{t}'],
	// what booking warnings say
	'when it was given back': ['Bei der Rückgabe', 'Al devolver'],
	'when it was driven off with': ['Bei der Abholung', 'Al recoger'],
	'nothing was charged for the time before': ['für die Zeit davor wurde nichts berechnet', 'no se cobró nada por el tiempo anterior'],
	'the days before it are charged as well': ['die Tage davor sind mit berechnet', 'también se cobran los días anteriores'],
	// who is on the do-not-rent list
	'the same {l}': ['gleich: {l}', 'coincide: {l}'],
	'licence number': ['Führerscheinnummer', 'número de permiso'],
	'email address': ['E-Mail-Adresse', 'correo electrónico'],
	'telephone number': ['Telefonnummer', 'teléfono'],
	'name': ['Name', 'nombre'],
	'date of birth': ['Geburtsdatum', 'fecha de nacimiento'],
	'end of the telephone number': ['Ende der Telefonnummer', 'final del teléfono'],
	// how long something was
	'{n:# minute|# minutes}': ['{n:# Minute|# Minuten}', '{n:# minuto|# minutos}'],
	'{n:# hour|# hours}': ['{n:# Stunde|# Stunden}', '{n:# hora|# horas}'],
	'{n:# day|# days}': ['{n:# Tag|# Tage}', '{n:# día|# días}'],
};

const prices: Sentences = {
	'{w}: {m}. {s}': ['{w}: {m}. {s}', '{w}: {m}. {s}'],
	'No rate plan: the rate of the {k}.': ['Kein Tarif, sondern der eigene Tagespreis ({k}).', 'Sin tarifa: el precio propio ({k}).'],
	'Rate plan {x} ({i}, revision {n}): {m} a day.': [
		'Tarif {x}, Fassung {n}: {m} am Tag.',
		'Tarifa {x}, versión {n}: {m} al día.',
		'Rate plan {x}, revision {n}: {m} a day.',
	],
	'The {k} has a rate of its own: {m} a day.': ['Eigener Tagespreis ({k}): {m} am Tag.', 'Precio propio ({k}): {m} al día.'],
	'Tiers and rates of seasons are in proportion to it.': [
		'Staffeln und Preise der Saisons stehen im Verhältnis dazu.',
		'Los tramos y los precios de temporada son proporcionales a él.',
	],
	'{t} to {t2} ({x}): {n:# day|# days} ({k}).': ['{t} bis {t2} ({x}): {n:# Tag|# Tage} ({k}).', 'Del {t} al {t2} ({x}): {n:# día|# días} ({k}).'],
	'Total: {m}, of which taxes {m2}.': ['Gesamt: {m}, davon Steuern {m2}.', 'Total: {m}, de los que {m2} son impuestos.'],
	'{n:# mile|# miles} included.': ['{n:# Meile|# Meilen} frei.', '{n:# milla incluida|# millas incluidas}.'],
	'{n:# mile|# miles} included, {m} for each beyond.': ['{n:# Meile|# Meilen} frei, {m} für jede weitere.', '{n:# milla incluida|# millas incluidas}, {m} por cada una más.'],
	'Deposit: {m} ({k}); no part of the total.': ['Kaution: {m} ({k}); nicht Teil des Gesamtpreises.', 'Depósito: {m} ({k}); no forma parte del total.'],
	'{n:# day|# days}: {l} = {m}.': ['{n:# Tag|# Tage}: {l} = {m}.', '{n:# día|# días}: {l} = {m}.'],
	'Of these {n}: {l}.': ['Davon {n}: {l}.', 'De ellos, {n}: {l}.'],
	"A day's share is {l}.": ['Auf einen Tag entfallen {l}.', 'A cada día le corresponden {l}.'],
	'Times {p}: {l}.': ['Mal {p}: {l}.', 'Por {p}: {l}.'],
	'{k}: {p} of {m}.': ['{k}: {p} von {m}.', '{k}: {p} de {m}.'],
	'With the code: {m}.': ['Mit dem Code: {m}.', 'Con el código: {m}.'],
	'No more than what is left of the price of the time: {m}.': ['Nicht mehr, als vom Mietpreis übrig ist: {m}.', 'No más de lo que queda del precio del alquiler: {m}.'],
	'{n} miles expected, {n2} included; settled by what was driven.': [
		'{n:# Meile|# Meilen} erwartet, {n2} frei; abgerechnet wird nach der gefahrenen Strecke.',
		'{n:# milla prevista|# millas previstas}, {n2} incluidas; se liquida según lo recorrido.',
	],
	'{n} at {m} a rental.': ['{n} zu {m} je Miete.', '{n} a {m} por alquiler.'],
	'{n} for {n2:# day|# days} at {m} a day.': ['{n} für {n2:# Tag|# Tage} zu {m} am Tag.', '{n} durante {n2:# día|# días} a {m} al día.'],
	'No more than {m} for one.': ['Höchstens {m} je Stück.', 'Como máximo {m} por unidad.'],
	'A driver is younger than {n}: a fee for each of {n2:# day|# days}.': [
		'Ein Fahrer ist jünger als {n}: eine Gebühr für jeden von {n2:# Tag|# Tagen}.',
		'Un conductor tiene menos de {n} años: un cargo por cada día ({n2:# día|# días}).',
	],
	'{n:# driver|# drivers} for {n2:# day|# days}.': ['{n} Fahrer für {n2:# Tag|# Tage}.', '{n:# conductor|# conductores} durante {n2:# día|# días}.'],
	'The fee for the two locations.': ['Die Gebühr für die beiden Standorte.', 'El cargo por las dos sedes.'],
	'The fee of the location of pickup.': ['Die Gebühr des Abholorts.', 'El cargo del lugar de recogida.'],
	'{p} of {m}, the sum of the taxable lines.': ['{p} von {m}, der Summe der steuerpflichtigen Posten.', '{p} de {m}, la suma de los cargos sujetos a impuestos.'],
	'{m} were charged.': ['{m} wurden berechnet.', 'Se cobraron {m}.'],
	'{p} of {m} instead of {m2}.': ['{p} von {m} statt {m2}.', '{p} de {m} en vez de {m2}.'],
	'{p} of {m}, the price without taxes. No part of what the customer owes.': [
		'{p} von {m}, dem Preis ohne Steuern. Nicht Teil dessen, was der Kunde schuldet.',
		'{p} de {m}, el precio sin impuestos. No forma parte de lo que debe el cliente.',
	],
	'Picked up early: {s}': ['Früh abgeholt: {s}', 'Recogida anticipada: {s}'],
	'Corrected: {s}': ['Korrigiert: {s}', 'Corregido: {s}'],
	'{n:# day|# days} instead of {n2:# day|# days}: {s}': ['{n:# Tag|# Tage} statt {n2:# Tag|# Tagen}: {s}', '{n:# día|# días} en vez de {n2:# día|# días}: {s}'],
	'{m} instead of {m2}.': ['{m} statt {m2}.', '{m} en vez de {m2}.'],
	'{n} % of the {k} is missing, at {m} for each percent.': ['{n} % fehlen ({k}), zu {m} für jedes Prozent.', 'Falta un {n} % ({k}), a {m} por cada punto.'],
	'The fee for the two locations is {m}, and {m2} was agreed.': [
		'Die Gebühr für die beiden Standorte ist {m}, vereinbart waren {m2}.',
		'El cargo por las dos sedes es de {m}, y se acordaron {m2}.',
	],
	'{n:# day|# days} more than the {n2} agreed, at {m}.': ['{n:# Tag|# Tage} mehr als die {n2} vereinbarten, zu je {m}.', '{n:# día|# días} más que los {n2} acordados, a {m}.'],
	'{n:# day|# days} more than the {n2} agreed ({l}), at the price of a single day: {l2}.': [
		'{n:# Tag|# Tage} mehr als die {n2} vereinbarten ({l}), zum Preis eines einzelnen Tages: {l2}.',
		'{n:# día|# días} más que los {n2} acordados ({l}), al precio de un solo día: {l2}.',
	],
	'{n} miles driven, {n2} included.': ['{n:# Meile|# Meilen} gefahren, {n2} frei.', '{n:# milla recorrida|# millas recorridas}, {n2} incluidas.'],
	'{n} miles driven, {n2} included, {n3} charged already.': [
		'{n:# Meile|# Meilen} gefahren, {n2} frei, {n3} schon berechnet.',
		'{n:# milla recorrida|# millas recorridas}, {n2} incluidas, {n3} ya cobradas.',
	],
	'Cancelled early enough to cost nothing.': ['So früh storniert, dass es nichts kostet.', 'Cancelado con tiempo suficiente para no costar nada.'],
	'Cancelled less than {n:# hour|# hours} before pickup: {p} of {m}.': [
		'Weniger als {n:# Stunde|# Stunden} vor der Abholung storniert: {p} von {m}.',
		'Cancelado menos de {n:# hora|# horas} antes de la recogida: {p} de {m}.',
	],
	'Nobody came: {p} of {m}.': ['Niemand kam: {p} von {m}.', 'Nadie se presentó: {p} de {m}.'],
	'Takes back {x}.': ['Nimmt {x} zurück.', 'Anula {x}.'],
	'A cost of {d}, passed on.': ['Weitergegebene Kosten vom {d}.', 'Un gasto del {d}, repercutido.'],
	'For the damage that was noted on {d}.': ['Für den Schaden, der am {d} notiert wurde.', 'Por el daño que se anotó el {d}.'],
};

const timeline: Sentences = {
	'Archived.': ['Archiviert.', 'Archivada.'],
	'Booked, {e}.': ['Gebucht. Stand: {e}.', 'Reservado. Estado: {e}.', 'Booked. Status: {e}.'],
	'Now {e}.': ['Jetzt: {e}.', 'Ahora: {e}.', 'Status: {e}.'],
	'Confirmed.': ['Bestätigt.', 'Confirmada.'],
	'Picked up.': ['Abgeholt.', 'Recogido.'],
	'Picked up on {t}.': ['Abgeholt am {t}.', 'Recogido el {t}.'],
	'Picked up on {t}, odometer {o} mi.': ['Abgeholt am {t}, Kilometerstand {o}.', 'Recogido el {t}, cuentakilómetros {o}.'],
	'Picked up on {t} at {x}.': ['Abgeholt am {t}, Ort: {x}.', 'Recogido el {t}, lugar: {x}.'],
	'Picked up on {t} at {x}, odometer {o} mi.': ['Abgeholt am {t}, Ort: {x}, Kilometerstand {o}.', 'Recogido el {t}, lugar: {x}, cuentakilómetros {o}.'],
	'Picked up on {t} at {x}. No odometer reading was taken.': [
		'Abgeholt am {t}, Ort: {x}. Es wurde kein Kilometerstand abgelesen.',
		'Recogido el {t}, lugar: {x}. No se tomó la lectura del cuentakilómetros.',
	],
	'Returned.': ['Zurückgegeben.', 'Devuelto.'],
	'Returned on {t}.': ['Zurückgegeben am {t}.', 'Devuelto el {t}.'],
	'Returned on {t}, odometer {o} mi.': ['Zurückgegeben am {t}, Kilometerstand {o}.', 'Devuelto el {t}, cuentakilómetros {o}.'],
	'Returned on {t} at {x}.': ['Zurückgegeben am {t}, Ort: {x}.', 'Devuelto el {t}, lugar: {x}.'],
	'Returned on {t} at {x}, odometer {o} mi.': ['Zurückgegeben am {t}, Ort: {x}, Kilometerstand {o}.', 'Devuelto el {t}, lugar: {x}, cuentakilómetros {o}.'],
	'Returned on {t} at {x}. No odometer reading was taken.': [
		'Zurückgegeben am {t}, Ort: {x}. Es wurde kein Kilometerstand abgelesen.',
		'Devuelto el {t}, lugar: {x}. No se tomó la lectura del cuentakilómetros.',
	],
	'No odometer reading was taken.': ['Es wurde kein Kilometerstand abgelesen.', 'No se tomó la lectura del cuentakilómetros.'],
	'Reopened.': ['Wieder geöffnet.', 'Reabierta.'],
	'Cancelled.': ['Storniert.', 'Cancelada.'],
	'Nobody came.': ['Niemand kam.', 'Nadie se presentó.'],
	'The hold ran out.': ['Die Vormerkung lief ab.', 'La reserva provisional caducó.'],
	'Overdue.': ['Überfällig.', 'Vencida.'],
	'Overlaps something else that holds the vehicle.': ['Überschneidet sich mit etwas anderem, das das Fahrzeug belegt.', 'Se solapa con otra cosa que ocupa el vehículo.'],
	'Overlaps nothing any more.': ['Überschneidet sich mit nichts mehr.', 'Ya no se solapa con nada.'],
	'Vehicle {x} instead of {x2}.': ['Fahrzeug {x} statt {x2}.', 'Vehículo {x} en vez de {x2}.'],
	'Vehicle {x} assigned.': ['Fahrzeug {x} zugewiesen.', 'Vehículo {x} asignado.'],
	'Inspection: {e}.': ['Prüfung: {e}.', 'Inspección: {e}.'],
	'Damage: {e}.': ['Schaden: {e}.', 'Daño: {e}.'],
	'Damage: {e}, {x}.': ['Schaden: {e}, {x}.', 'Daño: {e}, {x}.'],
	'Planned return {t} instead of {t2}.': ['Geplante Rückgabe {t} statt {t2}.', 'Devolución prevista {t} en vez de {t2}.'],
	'Planned pickup {t} instead of {t2}.': ['Geplante Abholung {t} statt {t2}.', 'Recogida prevista {t} en vez de {t2}.'],
	'Nobody of it is on the do-not-rent list any more.': ['Niemand davon steht mehr auf der Sperrliste.', 'Ya no hay nadie de ella en la lista de no alquilar.'],
	'Changed: {f}.': ['Geändert: {f}.', 'Cambiado: {f}.'],
	'Corrected: {c}. Reason: {x}': ['Korrigiert: {c}. Grund: {x}', 'Corregido: {c}. Motivo: {x}'],
	'Charged: {e}, {m}.': ['Berechnet: {e}, {m}.', 'Cobrado: {e}, {m}.'],
	'Charged: {e} ({x}), {m}.': ['Berechnet: {e} ({x}), {m}.', 'Cobrado: {e} ({x}), {m}.'],
	'Taken off: {e}, {m}.': ['Abgezogen: {e}, {m}.', 'Descontado: {e}, {m}.'],
	'Taken off: {e} ({x}), {m}.': ['Abgezogen: {e} ({x}), {m}.', 'Descontado: {e} ({x}), {m}.'],
	'Kept by the channel: {e}, {m}.': ['Vom Kanal einbehalten: {e}, {m}.', 'Retenido por el canal: {e}, {m}.'],
	'Charge reversed: {e}, {m}.': ['Posten zurückgenommen: {e}, {m}.', 'Cargo anulado: {e}, {m}.'],
	'No deposit is needed any more.': ['Es ist keine Kaution mehr nötig.', 'Ya no hace falta depósito.'],
	'Deposit {e}: {m}.': ['Kaution ({e}): {m}.', 'Depósito ({e}): {m}.', 'Deposit ({e}): {m}.'],
	'Deposit required: {m}.': ['Kaution erforderlich: {m}.', 'Depósito requerido: {m}.'],
	'Deposit authorized: {m}.': ['Kaution reserviert: {m}.', 'Depósito autorizado: {m}.'],
	'Deposit captured: {m}.': ['Kaution eingezogen: {m}.', 'Depósito cobrado: {m}.'],
	'Deposit released: {m}.': ['Kaution freigegeben: {m}.', 'Depósito liberado: {m}.'],
	'Deposit applied to what is owed: {m}.': ['Kaution mit Offenem verrechnet: {m}.', 'Depósito aplicado a lo pendiente: {m}.'],
	'Payment expected by {e}: {m}.': ['Zahlung erwartet ({e}): {m}.', 'Pago esperado ({e}): {m}.', 'Payment expected ({e}): {m}.'],
	'Payment failed by {e}: {m}.': ['Zahlung fehlgeschlagen ({e}): {m}.', 'Pago fallido ({e}): {m}.', 'Payment failed ({e}): {m}.'],
	'Payment received by {e}: {m}.': ['Zahlung eingegangen ({e}): {m}.', 'Pago recibido ({e}): {m}.', 'Payment received ({e}): {m}.'],
	'Paid out by {e}: {m}.': ['Ausgezahlt ({e}): {m}.', 'Desembolsado ({e}): {m}.', 'Paid out ({e}): {m}.'],
	'Refunded by {e}: {m}.': ['Erstattet ({e}): {m}.', 'Reembolsado ({e}): {m}.', 'Refunded ({e}): {m}.'],
	'Came back of what was paid out by {e}: {m}.': [
		'Vom Ausgezahlten zurückgekommen ({e}): {m}.',
		'Devuelto de lo pagado ({e}): {m}.',
		'Came back of what was paid out ({e}): {m}.',
	],
};

const warnings: Sentences = {
	'The customer {x} is on the do-not-rent list or blocked.': ['Der Kunde {x} steht auf der Sperrliste oder ist gesperrt.', 'El cliente {x} está en la lista de no alquilar o bloqueado.'],
	'The customer {x} may be {x2}, who is on the do-not-rent list: {k}.': [
		'Der Kunde {x} ist vielleicht {x2} auf der Sperrliste ({k}).',
		'El cliente {x} puede ser {x2}, que está en la lista de no alquilar ({k}).',
	],
	'The customer {x} has {k} as {x2}, who is on the do-not-rent list.': [
		'Der Kunde {x} stimmt mit {x2} auf der Sperrliste überein ({k}).',
		'El cliente {x} concuerda con {x2}, que está en la lista de no alquilar ({k}).',
	],
	'no odometer reading of {x} was taken at {k}, so that miles driven are not known and none are charged for': [
		'Kein Kilometerstand von {x} ({k}): Die gefahrene Strecke ist nicht bekannt, und keine wird berechnet.',
		'Falta la lectura del cuentakilómetros de {x} ({k}): no se sabe la distancia recorrida y no se cobra ninguna.',
	],
	'no {k} level of {x} was taken {k2}, so that nothing is charged for what is missing': [
		'{k2} von {x} wurde der Stand nicht abgelesen ({k}): Was fehlt, wird nicht berechnet.',
		'{k2} {x} no se anotó el nivel ({k}): no se cobra lo que falte.',
	],
	'the one-way fee that was agreed stays charged, with its tax, though the vehicle was returned where less is asked; post an adjustment if the customer does not owe it': [
		'Die vereinbarte Gebühr für die Rückgabe anderswo bleibt mit ihrer Steuer berechnet, obwohl das Fahrzeug dort zurückkam, wo weniger verlangt wird; buchen Sie eine Anpassung, wenn der Kunde sie nicht schuldet.',
		'El cargo acordado por devolver en otro lugar sigue cobrado, con su impuesto, aunque el vehículo se devolvió donde se pide menos; anote un ajuste si el cliente no lo debe.',
	],
	'the odometer of {x} was taken as {o} mi at pickup, and its meter had {o2} mi before; the miles driven are counted from what was taken': [
		'Der Kilometerstand von {x} wurde bei der Abholung mit {o} abgelesen, vorher stand der Zähler auf {o2}; die Strecke zählt ab dem abgelesenen Stand.',
		'El cuentakilómetros de {x} se anotó con {o} en la recogida y antes marcaba {o2}; la distancia se cuenta desde lo anotado.',
	],
	'the vehicle was picked up {l} before the agreed pickup, which was at {t}; {k}': [
		'Das Fahrzeug wurde früher abgeholt als vereinbart ({l} vor dem {t}); {k}.',
		'El vehículo se recogió antes de lo acordado ({l} antes del {t}); {k}.',
	],
	'The deposit is still authorized although nothing came of the booking: release it, or capture what is to be kept.': [
		'Die Kaution ist noch reserviert, obwohl aus der Buchung nichts wurde: Geben Sie sie frei, oder ziehen Sie ein, was behalten werden soll.',
		'El depósito sigue autorizado aunque la reserva quedó en nada: libérelo o cobre lo que se vaya a retener.',
	],
	'A part of the deposit is still held although nothing came of the booking: apply it to what is owed, and release the rest.': [
		'Ein Teil der Kaution wird noch gehalten, obwohl aus der Buchung nichts wurde: Verrechnen Sie ihn mit dem Offenen, und geben Sie den Rest frei.',
		'Aún se retiene parte del depósito aunque la reserva quedó en nada: aplíquela a lo pendiente y libere el resto.',
	],
	// why no booking was found for a toll
	'no vehicle had the plate {x} at that time': ['Kein Fahrzeug hatte zu dieser Zeit das Kennzeichen {x}.', 'Ningún vehículo tenía la matrícula {x} en ese momento.'],
	'{n} vehicles had the plate {x} at that time; give the region': [
		'{n} Fahrzeuge hatten zu dieser Zeit das Kennzeichen {x}; geben Sie die Region an.',
		'{n} vehículos tenían la matrícula {x} en ese momento; indique la región.',
	],
	'the time has not come yet': ['Der Zeitpunkt liegt noch in der Zukunft.', 'Ese momento aún no ha llegado.'],
	'nobody had picked up the vehicle {x} and not returned it at that time': [
		'Niemand hatte zu dieser Zeit das Fahrzeug {x} abgeholt und noch nicht zurückgegeben.',
		'Nadie tenía recogido y sin devolver el vehículo {x} en ese momento.',
	],
	'more than one booking had the vehicle at that time: {x}': ['Mehr als eine Buchung hatte zu dieser Zeit das Fahrzeug: {x}', 'Más de una reserva tenía el vehículo en ese momento: {x}'],
};

const reports: Sentences = {
	'Class and location are those that vehicles have now.': ['Klasse und Standort sind die, die Fahrzeuge jetzt haben.', 'Clase y sede son las que los vehículos tienen ahora.'],
	'Class and location are those of the booking, the location that of its pickup.': [
		'Klasse und Standort sind die der Buchung, als Standort gilt der Abholort.',
		'Clase y sede son las de la reserva, y la sede es la de su recogida.',
	],
	'Class and location are those of the quote, the location that of its pickup.': [
		'Klasse und Standort sind die des Angebots, als Standort gilt der Abholort.',
		'Clase y sede son las del presupuesto, y la sede es la de su recogida.',
	],
	'How many alerts there were, how grave, and how many somebody has acknowledged. By category: their kind.': [
		'Wie viele Alarme es gab, wie schwer sie waren und wie viele jemand bestätigt hat. Nach Art: die Art des Alarms.',
		'Cuántas alertas hubo, de qué gravedad y cuántas ha confirmado alguien. Por tipo: el tipo de alerta.',
	],
	'What stands on each account of the ledger at the end of the span: what is owned and what others owe is positive, what is owed is negative, and so are what owners have put in (equity) and the profit so far (result). The total is nothing, or the books do not balance.': [
		'Was am Ende des Zeitraums auf jedem Konto steht: Was Ihnen gehört und was andere schulden, ist positiv; was Sie schulden, ist negativ, ebenso, was Inhaber eingelegt haben (Eigenkapital), und der bisherige Gewinn (Ergebnis). Die Summe ist null, sonst gehen die Bücher nicht auf.',
		'Lo que hay en cada cuenta al final del periodo: lo que se posee y lo que otros deben es positivo; lo que se debe es negativo, igual que lo aportado por los propietarios (patrimonio) y el beneficio hasta ahora (resultado). El total es cero; si no, los libros no cuadran.',
	],
	'Bookings by when they were made: how long ahead, and how many of them were cancelled since. Pickups of a time have a report of their own, as the two are never the same bookings.': [
		'Buchungen nach dem Zeitpunkt, zu dem sie gemacht wurden: wie lange im Voraus, und wie viele davon seither storniert wurden. Die Abholungen eines Zeitraums haben einen eigenen Bericht, denn es sind nie dieselben Buchungen.',
		'Reservas según cuándo se hicieron: con cuánta antelación y cuántas se han cancelado desde entonces. Las recogidas de un periodo tienen su propio informe, ya que nunca son las mismas reservas.',
	],
	'What a mile costs: while it is driven, and with what vehicles cost anyway. Miles are those of trackers, and of no currency: what is for a mile is right of vehicles whose money is of one.': [
		'Was eine Meile kostet: beim Fahren selbst, und mit dem, was Fahrzeuge ohnehin kosten. Die Meilen sind die der Tracker und gehören zu keiner Währung: Beträge je Meile stimmen für Fahrzeuge, deren Geld in einer einzigen geführt wird.',
		'Lo que cuesta una milla: al recorrerla y con lo que los vehículos cuestan de todos modos. Las millas son las de los rastreadores y no tienen moneda: lo que es por milla es correcto para vehículos cuyo dinero está en una sola.',
	],
	'Customers by the month of their first rental, and how many of them rented again in each of the twelve months that followed.': [
		'Kunden nach dem Monat ihrer ersten Miete, und wie viele von ihnen in jedem der zwölf folgenden Monate wieder gemietet haben.',
		'Clientes según el mes de su primer alquiler, y cuántos de ellos volvieron a alquilar en cada uno de los doce meses siguientes.',
	],
	'How many customers came, how many of them again, and what they have brought in so far.': [
		'Wie viele Kunden kamen, wie viele davon wieder, und was sie bisher eingebracht haben.',
		'Cuántos clientes vinieron, cuántos de ellos repitieron y cuánto han aportado hasta ahora.',
	],
	'What customers were charged for damage, beside what repairs cost.': [
		'Was Kunden für Schäden berechnet wurde, neben dem, was Reparaturen kosteten.',
		'Lo que se cobró a los clientes por daños, junto a lo que costaron las reparaciones.',
	],
	'What customers left as deposits and have not got back: it is theirs. As of the last day of the span, with what came and went in it. A deposit that is only authorized is no money yet.': [
		'Was Kunden als Kaution hinterlegt und noch nicht zurückbekommen haben: Es gehört ihnen. Stand am letzten Tag des Zeitraums, mit dem, was darin kam und ging. Eine Kaution, die nur reserviert ist, ist noch kein Geld.',
		'Lo que los clientes dejaron en depósito y no han recuperado: es suyo. A fecha del último día del periodo, con lo que entró y salió en él. Un depósito solo autorizado aún no es dinero.',
	],
	'What vehicles lost in value by the books, what they cost when they were bought, and what is left of that: their book value at the end of the span.': [
		'Was Fahrzeuge nach den Büchern an Wert verloren haben, was sie bei der Anschaffung kosteten und was davon übrig ist: ihr Buchwert am Ende des Zeitraums.',
		'Lo que los vehículos perdieron de valor según los libros, lo que costaron al comprarlos y lo que queda de ello: su valor contable al final del periodo.',
	],
	'How far vehicles went, on rent and otherwise, and how much of it is estimated because nothing was heard on the way.': [
		'Wie weit Fahrzeuge fuhren, vermietet und sonst, und wie viel davon geschätzt ist, weil unterwegs nichts zu hören war.',
		'Cuánto recorrieron los vehículos, alquilados o no, y cuánto es estimado porque no se supo nada por el camino.',
	],
	'How safely vehicles were driven, from 0 to 100, and what the score is made of. A score of many is that of their sums, never the mean of their scores. The scores of drivers are at /v1/drivers, as who drove a trip is found out when it is read.': [
		'Wie sicher Fahrzeuge gefahren wurden, von 0 bis 100, und woraus die Punkte entstehen. Die Punkte von mehreren sind die ihrer Summen, nie das Mittel ihrer Punkte. Fahrer haben eigene Punkte, die hier nicht stehen.',
		'Con qué seguridad se condujeron los vehículos, de 0 a 100, y de qué se compone la puntuación. La de varios es la de sus sumas, nunca la media de sus puntuaciones. Los conductores tienen puntuaciones propias, que no figuran aquí.',
		'How safely vehicles were driven, from 0 to 100, and what the score is made of. A score of many is that of their sums, never the mean of their scores. Drivers have scores of their own, which are not shown here.',
	],
	'Fuel and electricity: what vehicles took, how far they went on it, and what the account paid for it.': [
		'Kraftstoff und Strom: was Fahrzeuge aufnahmen, wie weit sie damit kamen und was dafür bezahlt wurde.',
		'Combustible y electricidad: lo que tomaron los vehículos, cuánto recorrieron con ello y lo que se pagó por ello.',
	],
	'What became of the money that was put into vehicles: what they brought since, what they were sold for or are still worth by the books, and when they have paid for themselves. Of vehicles whose record says what they cost, through the last day.': [
		'Was aus dem Geld wurde, das in Fahrzeuge gesteckt wurde: was sie seither einbrachten, wofür sie verkauft wurden oder was sie nach den Büchern noch wert sind, und wann sie sich bezahlt gemacht haben. Für Fahrzeuge, bei denen eingetragen ist, was sie kosteten, bis zum letzten Tag.',
		'Qué fue del dinero invertido en vehículos: lo que han aportado desde entonces, por cuánto se vendieron o cuánto valen aún según los libros, y cuándo se han amortizado. De los vehículos en cuya ficha consta lo que costaron, hasta el último día.',
	],
	'How often vehicles were in geofences, and how long: on each local day the time of that day.': [
		'Wie oft und wie lange Fahrzeuge in Geozonen waren: an jedem örtlichen Tag die Zeit dieses Tages.',
		'Cuántas veces y cuánto tiempo estuvieron los vehículos en geocercas: en cada día local, el tiempo de ese día.',
	],
	'How long engines ran while vehicles stood, on trips and between them, and what that burnt.': [
		'Wie lange Motoren liefen, während Fahrzeuge standen, auf Fahrten und dazwischen, und was das verbrauchte.',
		'Cuánto tiempo funcionaron los motores con los vehículos parados, en viajes y entre ellos, y cuánto consumió eso.',
	],
	'What keeping vehicles in order costs, planned and not, and how long it kept them off the road. Miles and time are of no currency: what is for a mile or a vehicle is right of vehicles whose money is of one.': [
		'Was es kostet, Fahrzeuge in Ordnung zu halten, geplant und ungeplant, und wie lange sie deshalb ausfielen. Meilen und Zeit gehören zu keiner Währung: Beträge je Meile oder Fahrzeug stimmen für Fahrzeuge, deren Geld in einer einzigen geführt wird.',
		'Lo que cuesta mantener los vehículos en orden, previsto o no, y cuánto tiempo los dejó fuera de uso. Las millas y el tiempo no tienen moneda: lo que es por milla o por vehículo es correcto para vehículos cuyo dinero está en una sola.',
	],
	'What each vehicle does on each day: rented, booked for a rental that has not begun, blocked, or free; by vehicle and day with the booking, or counted. Only vehicles that are in the fleet on the day.': [
		'Was jedes Fahrzeug an jedem Tag tut: vermietet, für eine noch nicht begonnene Miete gebucht, gesperrt oder frei; nach Fahrzeug und Tag mit der Buchung, oder gezählt. Nur Fahrzeuge, die an dem Tag zur Flotte gehören.',
		'Lo que hace cada vehículo cada día: alquilado, reservado para un alquiler que no ha empezado, bloqueado o libre; por vehículo y día con la reserva, o en recuento. Solo vehículos que están en la flota ese día.',
	],
	'What is on the books for the days of the span, beside what was on the books for the same days a year before as of the same day a year ago, and what came of those in the end. It says the same as the forecast of pace, which is made of the same.': [
		'Was für die Tage des Zeitraums gebucht ist, neben dem, was vor einem Jahr am selben Tag für dieselben Tage des Vorjahres gebucht war, und was daraus am Ende wurde. Er sagt dasselbe wie die Vorschau auf den Buchungsstand, die aus demselben entsteht.',
		'Lo reservado para los días del periodo, junto a lo que hace un año, en la misma fecha, había reservado para los mismos días del año anterior, y lo que resultó al final. Dice lo mismo que la previsión del ritmo de reservas, que se hace con los mismos datos.',
	],
	'Bookings by the day of their planned pickup: how many came of it, how many were not picked up by anybody, and for how long vehicles were rented.': [
		'Buchungen nach dem Tag ihrer geplanten Abholung: aus wie vielen etwas wurde, wie viele niemand abgeholt hat und wie lange Fahrzeuge vermietet waren.',
		'Reservas según el día de su recogida prevista: cuántas se llevaron a cabo, cuántas no recogió nadie y cuánto tiempo estuvieron alquilados los vehículos.',
	],
	'What was earned and spent on each account of the ledger in the span, as an accountant wants it. Earnings are positive, costs and what lessens earnings negative; the total is the profit.': [
		'Was im Zeitraum auf jedem Konto eingenommen und ausgegeben wurde, wie es die Buchhaltung braucht. Erträge sind positiv, Kosten und Erlösminderungen negativ; die Summe ist der Gewinn.',
		'Lo ingresado y lo gastado en cada cuenta durante el periodo, como lo quiere la contabilidad. Los ingresos son positivos; los costes y lo que reduce los ingresos, negativos; el total es el beneficio.',
	],
	'What is left of the revenue: the contribution after what channels keep and what driving and renting costs, and the net profit after what vehicles cost whether they are rented or not. On the cash basis, what came in less what was paid, but for vehicles and loans, and for money that journal entries by hand moved: what owners put in is no income.': [
		'Was vom Umsatz bleibt: der Deckungsbeitrag nach dem Anteil der Kanäle und den Kosten von Fahren und Vermieten, und der Gewinn nach dem, was Fahrzeuge kosten, ob vermietet oder nicht. Nach Zahlungen: was einging, weniger dem, was bezahlt wurde, ohne Fahrzeuge und Kredite und ohne Geld, das Buchungen von Hand bewegten; was Inhaber einlegen, ist kein Ertrag.',
		'Lo que queda de los ingresos: la contribución tras lo que retienen los canales y lo que cuesta circular y alquilar, y el beneficio tras lo que cuestan los vehículos, alquilados o no. Según caja: lo que entró menos lo pagado, salvo vehículos y préstamos y el dinero movido por asientos manuales; lo que aportan los propietarios no es un ingreso.',
	],
	'Quotes by when they were made, and what came of them.': ['Angebote nach dem Zeitpunkt, zu dem sie gemacht wurden, und was daraus wurde.', 'Presupuestos según cuándo se hicieron, y lo que resultó de ellos.'],
	"Who owes what at the end of the last day of the span, by how many days ago it was billed. What was paid counts against what was billed first, also on the day of another bill. It equals the ledger's accounts of receivables, of customers and of channels. By channel what a booking owes by one channel is aged apart from what was paid by another, so that rows do not add up.": [
		'Wer am Ende des letzten Tages des Zeitraums was schuldet, nach der Zahl der Tage seit der Berechnung. Was bezahlt wurde, zählt gegen das zuerst Berechnete, auch am Tag einer anderen Rechnung. Es entspricht den Forderungskonten der Bücher, gegen Kunden und gegen Kanäle. Nach Kanal wird, was eine Buchung über einen Kanal schuldet, getrennt von dem betrachtet, was über einen anderen bezahlt wurde, sodass sich die Zeilen nicht addieren.',
		'Quién debe qué al final del último día del periodo, según los días desde que se facturó. Lo pagado cuenta contra lo facturado primero, también en el día de otra factura. Equivale a las cuentas por cobrar de los libros, de clientes y de canales. Por canal, lo que una reserva debe por un canal se trata aparte de lo pagado por otro, de modo que las filas no suman.',
	],
	'What rentals in the currency really earned for each mile and hour. Rentals count when their vehicle comes back, with all that they earned and all that was driven on them, whenever that was. Miles outside of rentals are those of the days of the span.': [
		'Was Mieten in der Währung je Meile und Stunde wirklich eingebracht haben. Mieten zählen, wenn ihr Fahrzeug zurückkommt, mit allem, was sie einbrachten und was auf ihnen gefahren wurde, wann immer das war. Meilen außerhalb von Mieten sind die der Tage des Zeitraums.',
		'Lo que los alquileres en la moneda ganaron realmente por milla y por hora. Los alquileres cuentan cuando vuelve su vehículo, con todo lo que ganaron y todo lo que se recorrió en ellos, fuera cuando fuera. Las millas fuera de alquiler son las de los días del periodo.',
	],
	'What rentals earned, by kind, without taxes, deposits and tolls that are passed on. On the accrual basis it is earned on the days of use; on the cash basis it is what came in, on the days on which money moved, but by journal entries by hand: what owners put in is no income.': [
		'Was Mieten einbrachten, nach Art, ohne Steuern, Kautionen und weitergegebene Maut. Nach Leistung zählt es an den Tagen der Nutzung; nach Zahlungen ist es, was einging, an den Tagen, an denen Geld floss, außer durch Buchungen von Hand: Was Inhaber einlegen, ist kein Ertrag.',
		'Lo que ganaron los alquileres, por tipo, sin impuestos, depósitos ni peajes repercutidos. Según devengo, se gana en los días de uso; según caja, es lo que entró, en los días en que se movió dinero, salvo por asientos manuales: lo que aportan los propietarios no es un ingreso.',
	],
	"Why revenue differs from that of the span before: because there were more or fewer vehicles, because they were out more or less of their time, or because an hour of rental earned more or less. The three effects add up to the change. Rentals are those in the currency, of the whole fleet's time.": [
		'Warum sich der Umsatz von dem des Zeitraums davor unterscheidet: weil es mehr oder weniger Fahrzeuge gab, weil sie mehr oder weniger ihrer Zeit unterwegs waren oder weil eine Stunde Miete mehr oder weniger einbrachte. Die drei Wirkungen ergeben zusammen die Veränderung. Es zählen Mieten in der Währung, von der Zeit der ganzen Flotte.',
		'Por qué los ingresos difieren de los del periodo anterior: porque hubo más o menos vehículos, porque estuvieron fuera más o menos tiempo, o porque una hora de alquiler ganó más o menos. Los tres efectos suman la variación. Los alquileres son los de la moneda, sobre el tiempo de toda la flota.',
	],
	'What platforms keep of what rentals earn, by the channel that they came through.': [
		'Was Plattformen von dem behalten, was Mieten einbringen, nach dem Kanal, über den sie kamen.',
		'Lo que las plataformas retienen de lo que ganan los alquileres, según el canal por el que llegaron.',
	],
	'What was charged of each tax and on which net amounts, by the day of the books on which it was billed, what of it went to the authority, and the input tax of what was bought. Taxes are those of the location at which the rental began, by their names.': [
		'Was von jeder Steuer auf welche Nettobeträge berechnet wurde, nach dem Buchungstag der Berechnung, was davon an die Behörde ging, und die Vorsteuer auf Einkäufe. Es sind die Steuern des Standorts, an dem die Miete begann, nach ihren Namen.',
		'Lo que se cobró de cada impuesto y sobre qué importes netos, según el día contable en que se facturó, lo que de ello se ingresó a la autoridad, y el impuesto soportado en las compras. Los impuestos son los de la sede donde empezó el alquiler, por su nombre.',
	],
	'How often and how far vehicles went, and how fast. A trip is of the local day on which it began. Ways that nobody saw, because the tracker was silent, are no trips and stand apart.': [
		'Wie oft, wie weit und wie schnell Fahrzeuge fuhren. Eine Fahrt gehört zu dem örtlichen Tag, an dem sie begann. Wege, die niemand sah, weil der Tracker schwieg, sind keine Fahrten und stehen für sich.',
		'Con qué frecuencia, hasta dónde y a qué velocidad fueron los vehículos. Un viaje es del día local en que empezó. Los trayectos que nadie vio, porque el rastreador estaba en silencio, no son viajes y figuran aparte.',
	],
	'How long vehicles were idle after rentals: from the return until they were available, and until the next pickup.': [
		'Wie lange Fahrzeuge nach Mieten ungenutzt waren: von der Rückgabe, bis sie verfügbar waren, und bis zur nächsten Abholung.',
		'Cuánto tiempo estuvieron sin uso los vehículos tras los alquileres: desde la devolución hasta estar disponibles y hasta la siguiente recogida.',
	],
	'How much of the time that the fleet had was sold. Two shares that are often mixed up stand side by side: of the time in which vehicles could be rented, and of all the time that they were in the fleet.': [
		'Wie viel von der Zeit der Flotte verkauft wurde. Zwei Anteile, die oft verwechselt werden, stehen nebeneinander: an der Zeit, in der Fahrzeuge zu mieten waren, und an der ganzen Zeit, in der sie zur Flotte gehörten.',
		'Cuánto del tiempo que tenía la flota se vendió. Dos proporciones que a menudo se confunden están juntas: sobre el tiempo en que los vehículos podían alquilarse y sobre todo el tiempo que estuvieron en la flota.',
	],
};

// What kinds of alerts watch for.
const alerts: Sentences = {
	'Faster than the threshold; only inside the geofences that are chosen, if any are.': [
		'Schneller als die Schwelle; nur in den gewählten Zonen, wenn welche gewählt sind.',
		'Más rápido que el umbral; solo dentro de las zonas elegidas, si las hay.',
		'Faster than the threshold; only inside the fences that are chosen, if any are.',
	],
	'Faster than the speed limit of the geofence that it is in, by more than the threshold.': [
		'Um mehr als die Schwelle schneller, als die Zone erlaubt, in der es ist.',
		'Supera en más del umbral el límite de velocidad de la zona en la que está.',
		'Faster than the speed limit of the fence that it is in, by more than the threshold.',
	],
	'Enters a geofence.': ['Kommt in eine Zone.', 'Entra en una zona.', 'Enters a fence.'],
	'Leaves a geofence.': ['Verlässt eine Zone.', 'Sale de una zona.', 'Leaves a fence.'],
	"Stays inside a geofence for the threshold or longer, which is the geofence's own dwell_s unless given.": [
		'Bleibt so lange wie die Schwelle oder länger in einer Zone. Ohne Schwelle gilt, was bei der Zone als Verweilen steht.',
		'Permanece en una zona el umbral o más. Sin umbral vale la estancia indicada en la zona.',
		'Stays inside a fence for the threshold or longer. Without a threshold it is the dwell that the fence has.',
	],
	'Is outside all of the geofences that are chosen, while the schedule holds.': [
		'Ist außerhalb aller gewählten Zonen, zu den Zeiten, zu denen die Regel gilt.',
		'Está fuera de todas las zonas elegidas, en las horas en que vigila la regla.',
		'Is outside all of the fences that are chosen, at the times at which the rule watches.',
	],
	'State of charge of the traction battery below the threshold.': ['Ladestand der Fahrbatterie unter der Schwelle.', 'Carga de la batería de tracción por debajo del umbral.'],
	'Fuel in the tank below the threshold.': ['Kraftstoff im Tank unter der Schwelle.', 'Combustible del depósito por debajo del umbral.'],
	'Voltage of the starter battery below the threshold, by a reading that comes when the engine has been off for five minutes; by any where the ignition is not known.': [
		'Spannung der Starterbatterie unter der Schwelle, nach einem Messwert, der kommt, wenn der Motor seit fünf Minuten aus ist; nach jedem, wo die Zündung nicht bekannt ist.',
		'Tensión de la batería de arranque por debajo del umbral, según una lectura que llega cuando el motor lleva cinco minutos apagado; según cualquiera si no se conoce el encendido.',
	],
	'Nothing heard for longer than the threshold; raised up to a minute after that, as of when it was.': [
		'Länger als die Schwelle nichts gehört; wird bis zu einer Minute danach gemeldet, mit dem Zeitpunkt, zu dem es so war.',
		'Sin noticias durante más del umbral; se avisa hasta un minuto después, con la hora en que ocurrió.',
	],
	'Stands with the engine on for the threshold or longer, as two fixes say that stand; raised as of the first, with a later fix that stands or when none has come for two minutes.': [
		'Steht so lange wie die Schwelle oder länger mit laufendem Motor. Gemeldet wird es ab der ersten von zwei Positionen im Stand, mit einer späteren im Stand oder wenn zwei Minuten lang keine kam.',
		'Está parado con el motor en marcha el umbral o más. Se avisa desde la primera de dos posiciones paradas, con una posterior parada o cuando no llega ninguna en dos minutos.',
		'Stands with the engine on for the threshold or longer. It is told as of the first of two positions at a standstill, with a later one at a standstill or when none has come for two minutes.',
	],
	'Brakes harder than the threshold, or the device says so.': ['Bremst stärker als die Schwelle, oder das Gerät sagt es.', 'Frena más fuerte que el umbral, o lo dice el dispositivo.'],
	'Accelerates harder than the threshold, or the device says so.': ['Beschleunigt stärker als die Schwelle, oder das Gerät sagt es.', 'Acelera más fuerte que el umbral, o lo dice el dispositivo.'],
	'Corners harder than the threshold, or the device says so.': ['Nimmt Kurven schärfer als die Schwelle, oder das Gerät sagt es.', 'Toma las curvas más fuerte que el umbral, o lo dice el dispositivo.'],
	'Moves further than the threshold with the ignition off; or, by two readings in a row of roll_deg or pitch_deg, lies 10 degrees otherwise than it was left (subject tilt); or the device says so by its alarm.': [
		'Bewegt sich mit ausgeschalteter Zündung weiter als die Schwelle; oder steht nach zwei Messwerten hintereinander um 10 Grad anders geneigt, als es abgestellt wurde; oder das Gerät meldet es.',
		'Se mueve más que el umbral con el encendido apagado; o, según dos lecturas seguidas, está inclinado 10 grados respecto a como se dejó; o lo comunica el dispositivo.',
		'Moves further than the threshold with the ignition off; or, by two readings in a row, is tilted by 10 degrees from how it was left; or the device reports it.',
	],
	'Moves while no booking, block or work order holds it: buffers of bookings count, and so does what is not back yet.': [
		'Bewegt sich, während keine Buchung, keine Sperre und kein Arbeitsauftrag es belegt: Puffer von Buchungen zählen mit, und was noch nicht zurück ist, auch.',
		'Se mueve sin que lo ocupe una reserva, un bloqueo o una orden de trabajo: los márgenes de las reservas cuentan, y también lo que aún no ha vuelto.',
	],
	'Was picked up, and is not back so long after the end of its booking.': [
		'Wurde abgeholt und ist so lange nach dem Ende seiner Buchung nicht zurück.',
		'Se recogió y no ha vuelto tanto tiempo después del final de su reserva.',
	],
	'The device reports a fault, a fuel leak or a temperature by an alarm; or sos, jamming, tampering, removing, gpsAntennaCut or powerCut, as long as no rule of their own kind watches the vehicle.': [
		'Das Gerät meldet einen Fehler, auslaufenden Kraftstoff oder eine Temperatur; oder einen Hilferuf, eine Störung, eine Manipulation oder fehlenden Strom, solange keine Regel der eigenen Art auf das Fahrzeug achtet.',
		'El dispositivo avisa de una avería, una fuga de combustible o una temperatura; o de una petición de ayuda, una interferencia, una manipulación o falta de corriente, mientras ninguna regla de su propio tipo vigile el vehículo.',
		'The device reports a fault, a fuel leak or a temperature; or a call for help, jamming, tampering or a loss of power, as long as no rule of their own kind watches the vehicle.',
	],
	'The odometer jumps by more than the threshold.': ['Der Kilometerstand springt um mehr als die Schwelle.', 'El cuentakilómetros salta más que el umbral.'],
	'The device reports a crash.': ['Das Gerät meldet einen Unfall.', 'El dispositivo avisa de un accidente.'],
	'Registration, inspection, insurance or warranty ends within so many days.': [
		'Zulassung, Hauptuntersuchung, Versicherung oder Garantie endet in so vielen Tagen.',
		'La matriculación, la inspección, el seguro o la garantía vence en esos días.',
	],
	'Maintenance falls due within so many days, by date or by the miles that it is driven a day.': [
		'Wartung wird in so vielen Tagen fällig, nach Datum oder nach den Meilen, die es am Tag fährt.',
		'El mantenimiento vence en esos días, por fecha o por las millas que recorre al día.',
	],
	'A booking of the vehicle overlaps another.': ['Eine Buchung des Fahrzeugs überschneidet sich mit einer anderen.', 'Una reserva del vehículo se solapa con otra.'],
	'Reaches a stop of its route plan.': ['Erreicht einen Halt seines Routenplans.', 'Llega a una parada de su plan de ruta.'],
	'Has not reached a stop of its route plan by arrive_until and the threshold.': [
		'Hat einen Halt seines Routenplans noch nicht erreicht, wenn die späteste Ankunft um die Schwelle überschritten ist.',
		'No ha llegado a una parada de su plan de ruta cuando la hora límite de llegada se ha superado en el umbral.',
		'Has not reached a stop of its route plan when the latest arrival is past by the threshold.',
	],
	'Was seen off the corridor of its route plan, and not on it again for the threshold or longer.': [
		'Wurde außerhalb des Korridors seines Routenplans gesehen und so lange wie die Schwelle oder länger nicht wieder darin.',
		'Se vio fuera del corredor de su plan de ruta y no ha vuelto a él durante el umbral o más.',
	],
	"Somebody calls for help: the device's alarm sos.": [
		'Jemand ruft um Hilfe, und das Gerät meldet es.',
		'Alguien pide ayuda y el dispositivo lo comunica.',
		'Somebody calls for help, and the device reports it.',
	],
	'The device reports that its radio or GNSS is jammed.': ['Das Gerät meldet, dass sein Funk oder GNSS gestört wird.', 'El dispositivo avisa de que se interfiere su radio o su GNSS.'],
	'The device reports that it is tampered with or taken off, or that its antenna was cut: the alarms tampering, removing and gpsAntennaCut.': [
		'Das Gerät meldet, dass es manipuliert oder abgenommen oder dass seine Antenne gekappt wurde.',
		'El dispositivo avisa de que lo manipulan o lo retiran, o de que se cortó su antena.',
		'The device reports that it is tampered with or taken off, or that its antenna was cut.',
	],
	"The device lost the vehicle's power, or was switched off: the alarms powerCut and powerOff.": [
		'Das Gerät hat den Strom des Fahrzeugs verloren oder wurde abgeschaltet.',
		'El dispositivo perdió la corriente del vehículo o se apagó.',
		"The device lost the vehicle's power, or was switched off.",
	],
	"The device's supply or its own battery is low: the alarms lowPower and lowBattery.": [
		'Die Versorgung des Geräts oder seine eigene Batterie ist schwach.',
		'La alimentación del dispositivo o su propia batería está baja.',
		"The device's supply or its own battery is low.",
	],
	"A signal is what the rule's member signal asks: above, below, between, outside, equals, changed. The alert's subject is the signal, and its values are in the signal's unit.": [
		'Ein Signal ist so, wie die Regel es fragt: über, unter, zwischen, außerhalb, gleich oder geändert. Der Alarm nennt das Signal, seine Werte sind in dessen Einheit.',
		'Una señal es como pregunta la regla: por encima, por debajo, entre, fuera, igual o cambiada. La alerta nombra la señal, y sus valores están en la unidad de esta.',
		"A signal is what the rule asks: above, below, between, outside, equal or changed. The alert names the signal, and its values are in the signal's unit.",
	],
	'The level in the tank has fallen by more than what may have been used and the threshold together, and stays there: known with the first reading that comes five minutes or more after the one that showed it. The subject is standing or driving. Without fuel_capacity_gal a vehicle that tells litres is held to have a tank of 60 litres.': [
		'Der Stand im Tank ist um mehr gefallen, als verbraucht worden sein kann und die Schwelle dazu, und bleibt so. Bekannt ist es mit dem ersten Messwert, der fünf Minuten oder mehr nach dem kommt, der es zeigte. Der Alarm sagt, ob das Fahrzeug stand oder fuhr. Meldet es Liter und ist die Größe seines Tanks nicht vermerkt, so gilt ein Tank von 60 Litern.',
		'El nivel del depósito ha bajado más que lo que puede haberse consumido y el umbral juntos, y sigue así. Se sabe con la primera lectura que llega cinco minutos o más después de la que lo mostró. La alerta dice si el vehículo estaba parado o en marcha. Si informa en litros y no consta el tamaño de su depósito, se le suponen 60 litros.',
		'The level in the tank has fallen by more than what may have been used and the threshold together, and stays there. It is known with the first reading that comes five minutes or more after the one that showed it. The alert says whether the vehicle stood or was driven. If it reports litres and the size of its tank is not noted, the tank counts as one of 60 litres.',
	],
	'The level in the tank has risen by more than the threshold, and stays there: somebody has refuelled. As with fuel_drop.': [
		'Der Stand im Tank ist um mehr als die Schwelle gestiegen und bleibt so: Jemand hat getankt. Bekannt ist es mit dem ersten Messwert, der fünf Minuten oder mehr nach dem kommt, der es zeigte.',
		'El nivel del depósito ha subido más que el umbral y sigue así: alguien ha repostado. Se sabe con la primera lectura que llega cinco minutos o más después de la que lo mostró.',
		'The level in the tank has risen by more than the threshold, and stays there: somebody has refuelled. It is known with the first reading that comes five minutes or more after the one that showed it.',
	],
	"Two vehicles of the rule's scope are not farther from each other than the threshold, or with relation apart farther, for min_duration_s. Every pair of at most {n} vehicles; of more with the scope's tags, those with the lowest ids. The alert is one of the vehicle with the lower id, its subject is the other. It is known when both have reported a place of after it, so it comes later by their reporting interval, and while one is silent it goes on. Between places it is judged as /v1/reports/proximity says.": [
		'Zwei Fahrzeuge der Regel sind nicht weiter als die Schwelle voneinander entfernt, oder weiter, wenn sie „Voneinander entfernt“ fragt, und das so lange, wie es dauern muss. Geprüft wird jedes Paar von höchstens {n} Fahrzeugen; von mehr Fahrzeugen mit den Schlagwörtern die, die zuerst angelegt wurden. Der Alarm ist einer des zuerst angelegten Fahrzeugs und nennt das andere. Er ist bekannt, wenn beide einen Ort danach gemeldet haben, kommt also um ihren Meldeabstand später, und solange eines schweigt, dauert er an. Zwischen zwei gemeldeten Orten gilt, dass ein Fahrzeug gerade und gleichmäßig fuhr.',
		'Dos vehículos de la regla no están más lejos uno de otro que el umbral, o lo están si pregunta «Lejos uno del otro», durante el tiempo que debe durar. Se mira cada par de {n} vehículos como máximo; si hay más con las etiquetas, los que se crearon primero. La alerta es del vehículo que se creó primero y nombra al otro. Se sabe cuando ambos han informado de un lugar posterior, así que llega más tarde según su intervalo de envío, y mientras uno calla, continúa. Entre dos lugares comunicados se supone que un vehículo fue recto y de forma uniforme.',
		'Two vehicles of the rule are not farther from each other than the threshold, or farther if it asks for “Apart”, for as long as it must last. It looks at every pair of at most {n} vehicles; of more with the tags, at those that were added first. The alert is one of the vehicle that was added first, and names the other. It is known when both have reported a place after it, so that it comes later by their reporting interval, and while one is silent it goes on. Between two reported places a vehicle is taken to have gone straight and evenly.',
	],
	"The device raises one of the alarms of the rule, or any if it names none. The alert's subject is the alarm, or other when 32 different alarms of the vehicle are told apart already.": [
		'Das Gerät löst einen der Alarme der Regel aus, oder irgendeinen, wenn sie keinen nennt. Der neue Alarm nennt den des Geräts; ab dem 33. verschiedenen eines Fahrzeugs heißt es nur „Sonstiges“.',
		'El dispositivo activa una de las alarmas de la regla, o cualquiera si no nombra ninguna. La alerta nombra la del dispositivo; a partir de la 33.ª distinta de un vehículo dice solo «Otro».',
		'The device raises one of the alarms of the rule, or any if it names none. The alert names that of the device; from the 33rd different one of a vehicle on it says only “Other”.',
	],
};

export const sentences: Sentences = { ...prices, ...timeline, ...warnings, ...reports, ...alerts };
