package linkbench

// A profile is what the graph of a year looked like, and which client asks.
type profile struct {
	mix      mix
	degrees  func() degrees
	linkSize float64 // median, bytes
	nodeSize float64
	original bool // the original client, else that of the fork
}

// Names of the profiles; the first is the default.
const (
	profileFB2017 = "fb2017"
	profileFB2011 = "fb2011"
	profileModern = "modern"
)

func newProfile(name string) profile {
	if name == profileFB2011 {
		return profile{
			mix: mix{
				addLink: 8.9886601, deleteLink: 2.9907664, updateLink: 8.0122125, countLink: 4.8863567,
				multigetLink: 0.5261142, getLinksList: 50.7119145,
				addNode: 2.5732789, updateNode: 7.366437, deleteNode: 1.0115914, getNode: 12.9326683,
			},
			degrees: degrees2011, linkSize: 8, nodeSize: 128, original: true,
		}
	}
	return profile{
		mix: mix{
			addLink: 5.35038, deleteLink: 0.98401, updateLink: 4.75589, countLink: 4.27898,
			multigetLink: 12.14725, getLinksList: 22.57039,
			addNode: 2.61198, updateNode: 3.06256, deleteNode: 0.25166, getNode: 43.9869,
		},
		degrees: degrees2017, linkSize: 23, nodeSize: 168, original: name != profileModern,
	}
}
