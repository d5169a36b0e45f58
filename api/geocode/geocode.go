// Package geocode turns coordinates into words, without ever making anybody wait: the Gazetteer answers from memory,
// and an Online geocoder answers from its cache, or from the gazetteer while a configured Nominatim or Photon server is
// asked in the background. Coordinates are degrees WGS 84; an empty answer means that there are no words. Nothing here
// knows an account: an address belongs to a place.
package geocode
